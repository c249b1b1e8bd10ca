walk() {
  local d
  for d in "$1"/*/; do
    [ -d "$d" ] && walk "$d"
  done
}
walk .
