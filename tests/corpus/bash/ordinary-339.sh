lsblk -f
df -h /dev/sda1
