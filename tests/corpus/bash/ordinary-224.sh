[ -n "$DIR" ] && rm -rf "$DIR/cache"
rm -rf "${DIR:?}/cache"
rm -f -- "$PIDFILE"
