mount /dev/sdb1 /mnt
