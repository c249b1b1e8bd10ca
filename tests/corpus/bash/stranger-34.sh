rm -rf /sys/firmware/efi/efivars/*
