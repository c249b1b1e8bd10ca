cp disk.img /dev/sda
