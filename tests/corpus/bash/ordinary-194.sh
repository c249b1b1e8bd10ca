cleanup() { rm -f "$lock"; }
lock=/tmp/my.lock
trap cleanup EXIT INT TERM
( set -o noclobber; echo $$ > "$lock" ) 2>/dev/null || exit 1
