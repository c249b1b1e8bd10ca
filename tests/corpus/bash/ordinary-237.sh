exec 9>/tmp/my.lock
flock -n 9 || exit 1
date >> run.log
