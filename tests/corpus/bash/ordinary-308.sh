rm -rf "$1"/tmp
