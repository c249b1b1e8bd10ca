join -t, <(sort a.csv) <(sort b.csv) | tee joined.csv | wc -l
paste -d, a b; column -s, -t joined.csv
