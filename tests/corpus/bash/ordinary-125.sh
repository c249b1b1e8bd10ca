dd if=/dev/zero of=disk.img bs=1M count=10
dd if=/dev/urandom of=random.bin bs=1k count=4 2>/dev/null
mkdir -p mnt
