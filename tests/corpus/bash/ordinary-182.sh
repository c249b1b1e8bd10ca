# shellcheck source=/dev/null
source ./lib.sh
. "$(dirname "$0")/common.sh"
