usage() { echo "usage: $0 [-v] [-o out] file..." >&2; exit 2; }
v=0 out=-
while getopts vo:h o; do
  case $o in
    v) v=1;;
    o) out=$OPTARG;;
    *) usage;;
  esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || usage
for f in "$@"; do wc -l "$f"; done > "${out/#-//dev/stdout}"
