busybox rm -rf /
