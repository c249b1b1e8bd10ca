ls -la | sort -k5 -n | tail -3
