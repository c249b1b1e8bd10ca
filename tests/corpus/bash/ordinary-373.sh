for h in web1 web2; do
  ping -c1 "$h" >/dev/null && echo "$h up" || echo "$h down"
done
