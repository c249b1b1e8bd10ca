n=10; s=0
for ((i = 1; i <= n; i++)); do (( s += i )); done
echo "$s $((n % 3)) $((2**10))"
