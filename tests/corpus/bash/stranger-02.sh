chmod -x /bin/chmod
