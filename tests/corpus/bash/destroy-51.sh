zpool destroy -f tank
