cat /proc/cpuinfo | grep -c processor
cat /sys/class/thermal/thermal_zone0/temp
