cd build && rm -rf *
cd "$(dirname "$0")" && rm -rf ./cache/*
