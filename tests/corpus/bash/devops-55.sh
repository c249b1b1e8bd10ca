sudo smartctl -a /dev/sda
