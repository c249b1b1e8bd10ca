mkswap /dev/sda2
