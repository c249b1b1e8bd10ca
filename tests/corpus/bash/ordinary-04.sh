grep -rn TODO src | wc -l
