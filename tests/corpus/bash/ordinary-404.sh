awk -F, 'NR>1 {s[$2]+=$3} END {for (k in s) print k, s[k]}' sales.csv | sort -k2nr | head
