fdisk /dev/sda < cmds
