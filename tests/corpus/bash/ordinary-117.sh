: "${OUT:?OUT is not set}"
rm -rf "${OUT:?}"/*
