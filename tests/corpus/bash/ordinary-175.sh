self=$(readlink -f "$0")
dir=${self%/*}
cd "$dir" || exit 1
