declare -A ages=([ann]=30 [bob]=25)
for k in "${!ages[@]}"; do printf '%s: %d\n' "$k" "${ages[$k]}"; done
names=(a b c)
echo "${#names[@]} ${names[*]^^} ${names[0]//a/b}"
