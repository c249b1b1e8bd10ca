source ./lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
main "$@"
