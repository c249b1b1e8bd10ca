umount -l /; mount -o remount,ro /
