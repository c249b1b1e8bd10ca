echo 1 | tee /proc/sys/net/ipv4/ip_forward
