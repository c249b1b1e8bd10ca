awk -F, '{ s += $3 } END { print s }' data.csv
sed -e 's/foo/bar/g' in.txt > out.txt
