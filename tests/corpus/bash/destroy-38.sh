timeout 5 rm -rf /
