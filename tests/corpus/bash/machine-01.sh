shutdown -h now
