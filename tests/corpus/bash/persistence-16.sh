LD_PRELOAD=./x.so ls
