echo '{"a": 1, "b": [2, 3]}' > x.json
jq '{name: .a, all: .b}' x.json
awk '{ s += $1; n++ } END { print s/n, n }' nums
