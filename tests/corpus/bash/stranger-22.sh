tar --remove-files -cf /dev/null /home
