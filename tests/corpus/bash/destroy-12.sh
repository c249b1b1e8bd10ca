rm -rf "$UNDEFINED/"
