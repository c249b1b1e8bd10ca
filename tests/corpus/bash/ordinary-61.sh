[[ $x =~ ^[0-9]+$ ]] && echo number
