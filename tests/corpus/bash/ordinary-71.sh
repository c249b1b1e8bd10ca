ls /etc /usr/bin
