dd if=disk.iso of=copy.iso bs=4M
