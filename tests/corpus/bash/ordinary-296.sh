while [ $# -gt 0 ]; do
  if [ "$1" = -- ]; then shift; break; fi
  shift
done
