rm -rf ./build dist
