dd if=/dev/zero of=test.img bs=1M count=10
mkfs.ext4 -q -F test.img
