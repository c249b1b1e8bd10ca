split -l 1000 big.csv part_
for p in part_*; do gzip "$p"; done
paste -d, a.txt b.txt | column -t -s,
