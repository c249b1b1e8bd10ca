walk() { local d; for d in "$1"/*; do echo "$d"; [ -d "$d" ] && walk "$d"; done; }
walk .
