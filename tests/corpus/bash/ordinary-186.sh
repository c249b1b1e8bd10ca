set -euo pipefail
IFS=$'\n\t'
readonly DIR="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
echo "$DIR"
