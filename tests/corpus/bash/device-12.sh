echo c > /proc/sysrq-trigger
