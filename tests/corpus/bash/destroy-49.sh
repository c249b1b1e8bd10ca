lvremove -f /dev/vg0/data
