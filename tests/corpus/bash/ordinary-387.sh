x="a b c"; set -- $x; echo "$2"
IFS=, read -ra parts <<< "1,2,3"; echo "${parts[1]}"
