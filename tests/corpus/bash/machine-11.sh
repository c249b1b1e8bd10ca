tcpdump -i any
