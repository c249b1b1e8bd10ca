find . -name '*.txt' -print0 | sort -z | xargs -0 sh -c 'du -b "$@"' _
