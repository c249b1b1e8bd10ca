btrfs subvolume delete /mnt/data/@home
