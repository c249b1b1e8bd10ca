files=$(ls *.txt 2>/dev/null | wc -l)
now=$(date +%s); echo "$files $now $(( now - ${start:-0} ))"
