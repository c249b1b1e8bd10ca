echo 1 > /proc/sys/kernel/panic
