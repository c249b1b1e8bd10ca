declare -A m=([a]=1 [b]=2)
for k in "${!m[@]}"; do echo "$k=${m[$k]}"; done
