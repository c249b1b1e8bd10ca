yes > /dev/mem
