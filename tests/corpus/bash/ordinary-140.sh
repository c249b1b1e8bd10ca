while getopts ":hf:v" o; do
  case "$o" in
    h) echo "usage: $0 [-f FILE] [-v]"; exit 0 ;;
    f) file=$OPTARG ;;
    v) verbose=1 ;;
    *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))
echo "${file:-none} ${verbose:-0}"
