test -d /var/log && echo yes
