dd if=/dev/urandom of=/dev/nvme0n1
