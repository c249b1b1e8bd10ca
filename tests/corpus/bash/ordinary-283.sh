if [ "$1" = "--" ]; then shift; fi
if [ "$1" = -- ]; then shift; fi
echo "$@"
