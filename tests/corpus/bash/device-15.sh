tar cf /dev/sda /home
