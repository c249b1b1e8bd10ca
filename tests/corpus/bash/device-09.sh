wipefs -a /dev/sda
