coproc bc -l
echo "1/3" >&"${COPROC[1]}"
read -r x <&"${COPROC[0]}"
echo "$x"
