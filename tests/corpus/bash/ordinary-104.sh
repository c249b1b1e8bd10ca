declare -A count=()
words=(a b a c)
for w in "${words[@]}"; do count[$w]=$(( ${count[$w]:-0} + 1 )); done
for k in "${!count[@]}"; do echo "$k ${count[$k]}"; done
