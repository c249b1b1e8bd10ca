arr=(a b c); for x in "${arr[@]}"; do echo "$x"; done; echo "${#arr[@]} ${arr[@]:1:2}"
declare -A m=([a]=1 [b]=2); for k in "${!m[@]}"; do echo "$k=${m[$k]}"; done
