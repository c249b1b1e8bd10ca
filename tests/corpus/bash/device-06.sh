echo x > /dev/sdb1
