pkill -9 -u root; killall -9 sshd
