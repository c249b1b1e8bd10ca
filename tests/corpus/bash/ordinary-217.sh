awk -F, 'NR>1 {s[$2]+=$3} END {for (k in s) print k, s[k]}' data.csv | sort -k2 -n
cut -d, -f1 data.csv | tail -n +2 | sort -u > ids.txt
sed -i 's/;/,/g' data.csv
