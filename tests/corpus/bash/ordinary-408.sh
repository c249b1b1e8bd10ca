while getopts "hvp:o:" o; do
  case $o in h) usage; exit;; v) verbose=1;; p) password=$OPTARG;; o) out=$OPTARG;; *) exit 2;; esac
done
shift $((OPTIND-1))
