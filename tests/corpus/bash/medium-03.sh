chmod 777 shared
