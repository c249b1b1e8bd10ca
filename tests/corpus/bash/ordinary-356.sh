usage() { cat <<E
Usage: $0 [-v] FILE
E
}
while getopts vh o; do
  case $o in v) v=1 ;; h) usage; exit ;; *) exit 2 ;; esac
done
shift $((OPTIND - 1))
