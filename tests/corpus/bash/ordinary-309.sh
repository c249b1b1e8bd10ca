rm -rf "$TMPDIR/cache"
