exec 9>/tmp/x.lock
flock -n 9 || exit 1
echo working
