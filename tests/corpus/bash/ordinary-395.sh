find . -type f -perm 644 -name '*.sh' -print
