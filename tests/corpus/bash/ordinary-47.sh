cat file > /dev/stderr
