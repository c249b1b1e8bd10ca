#!/bin/bash
set -euo pipefail
for f in *.txt; do
  printf '%s %s\n' "$f" "$(wc -l < "$f")"
done
