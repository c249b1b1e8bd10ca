for u in https://example.org https://example.com; do
  code=$(curl -s -o /dev/null -w '%{http_code}' "$u")
  [ "$code" = 200 ] || echo "$u: $code"
done
