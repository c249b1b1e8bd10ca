coproc bc; echo 1+1 >&"${COPROC[1]}"; read -r r <&"${COPROC[0]}"; echo "$r"
