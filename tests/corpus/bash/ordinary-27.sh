case "$1" in
  start) echo starting ;;
  stop) echo stopping ;;
  *) echo "usage: $0 start|stop" >&2; exit 2 ;;
esac
