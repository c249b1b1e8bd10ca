f() {
  f &
  f &
}
f
