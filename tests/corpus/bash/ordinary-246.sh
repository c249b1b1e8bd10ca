cleanup() { rm -f "$tmp1" "$tmp2"; }
trap cleanup EXIT INT TERM
tmp1=$(mktemp) tmp2=$(mktemp)
sort x > "$tmp1"; sort y > "$tmp2"
join "$tmp1" "$tmp2"
