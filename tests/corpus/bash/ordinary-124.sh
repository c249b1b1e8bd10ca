d=2024-01-01
until [[ $d > 2024-01-05 ]]; do echo "$d"; d=$(date -I -d "$d + 1 day"); done
