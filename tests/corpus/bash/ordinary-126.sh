cmd >/dev/null 2>&1 || echo failed
: > empty.txt
cat /dev/null > log.txt
