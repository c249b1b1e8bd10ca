coproc bc -l
echo '2+2' >&"${COPROC[1]}"; read -r r <&"${COPROC[0]}"; echo "$r"
