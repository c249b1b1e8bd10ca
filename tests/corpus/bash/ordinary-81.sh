shopt -s nullglob
for f in *.csv; do echo "$f"; done
