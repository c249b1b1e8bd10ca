ulimit -n 4096
umask 022
