shred -n 3 /dev/sda
