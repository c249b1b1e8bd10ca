sysctl -w net.ipv4.ip_forward=1
