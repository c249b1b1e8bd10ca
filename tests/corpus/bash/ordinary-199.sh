while true; do
  [ -f done ] && break
  sleep 1
done
