dd if=/dev/zero of=/fill bs=1M
