find . -type f -print0 | xargs -0 sha256sum | sort > SUMS
find . -name '*.tmp' -print0 | xargs -0 rm -f
