arr=(a b c); echo "${arr[@]}" ${#arr[@]}
