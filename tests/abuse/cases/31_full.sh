#: item: 31
#: what: fills /tmp and the working directory with several files
#: args: [--tmp-size, 8M]
#: stdout: "No space left"
for d in /tmp /work; do
	for i in 1 2 3 4 5 6; do head -c 3M /dev/zero 2>&1 >"$d/fill$i"; done
	size=$(cat "$d"/fill* | wc -c)
	[ "$size" -le $((8 << 20)) ] || { echo "ESCAPE: $d took $size"; exit 1; }
	rm "$d"/fill*
done
exit 0
