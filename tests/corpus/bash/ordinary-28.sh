usage() {
  echo "usage: $(basename "$0") FILE"
}
[ $# -eq 1 ] || { usage; exit 1; }
