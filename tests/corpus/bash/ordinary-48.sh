exec 3< file; read -r x <&3
