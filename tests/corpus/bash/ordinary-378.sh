yes | head -n 3
seq 10 | shuf | sort -n | tail -1
