tail /dev/zero
