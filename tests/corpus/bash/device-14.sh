tee /dev/sda < x
