echo "/etc /usr" | xargs rm -rf
