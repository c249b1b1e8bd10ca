#: item: 4
#: what: leaves more artifacts than are collected
#: args: [--tmp-size, 64M]
#: out: {max_files: 10000}
#: seconds: 20
cd "$BELLJAR_OUT" || exit 1
seq 1 12000 | xargs touch 2>/dev/null
exit 0
