for f in logs/*.log; do
  [ -e "$f" ] || continue
  gzip -c "$f" > "$f.$(date +%s).gz" && : > "$f"
done
find logs -name '*.gz' -mtime +7 -exec rm {} +
