grep -c processor /proc/cpuinfo
