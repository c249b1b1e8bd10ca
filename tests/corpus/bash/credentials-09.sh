cat /proc/1/environ
