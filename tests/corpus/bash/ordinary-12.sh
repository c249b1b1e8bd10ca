rm -rf "${DIR:?}"/*
