awk -F, 'NR>1 {s[$1]+=$2} END {for (k in s) printf "%s %.2f\n", k, s[k]}' sales.csv | sort -k2 -nr | head
