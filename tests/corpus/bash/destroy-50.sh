cryptsetup luksErase --batch-mode /dev/sda2
