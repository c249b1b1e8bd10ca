for i in {1..5}; do
  if ping -c1 example.com >/dev/null; then break; fi
  sleep $((i * 2))
done
