join -t, <(sort -t, -k1,1 a.csv) <(sort -t, -k1,1 b.csv) | awk -F, '{ t[$2] += $3 } END { for (k in t) printf "%s,%.2f\n", k, t[k] }'
