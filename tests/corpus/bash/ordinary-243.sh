echo "scale=2; 10/3" | bc
echo $((2**10)) $((16#ff))
printf '%05d\n' 42
