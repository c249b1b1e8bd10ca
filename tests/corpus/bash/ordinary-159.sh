for f in *.csv; do
  [ -e "$f" ] || continue
  printf '%s\t%s\n' "$f" "$(wc -l < "$f")"
done
