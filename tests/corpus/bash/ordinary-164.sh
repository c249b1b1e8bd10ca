re='^[0-9]+$'
[[ ${1:-} =~ $re ]] || { echo "not a number" >&2; }
