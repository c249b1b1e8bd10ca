mkfs -t xfs /dev/sdb
