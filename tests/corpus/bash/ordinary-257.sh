set -o pipefail
for t in tests/*.sh; do
  if bash "$t" > "out/$(basename "$t").log" 2>&1; then echo "ok $t"; else echo "FAIL $t"; fi
done
