export LD_PRELOAD=/tmp/x.so
