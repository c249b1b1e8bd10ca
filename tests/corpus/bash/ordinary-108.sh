setup() { T="$(mktemp -d)"; cd "$T"; }
teardown() { cd /; rm -rf "$T"; }
