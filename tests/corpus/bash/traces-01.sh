history -c
