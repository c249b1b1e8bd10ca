unshare -n true
