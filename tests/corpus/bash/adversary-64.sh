dd if=/dev/mem of=/tmp/m
