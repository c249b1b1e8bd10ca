mount | grep ext4
findmnt -t nfs
