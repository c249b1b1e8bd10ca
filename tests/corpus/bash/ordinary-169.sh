printf '%-10s|%5d|%6.2f\n' a 1 2.5 bb 22 3.75
printf '\033[31mred\033[0m\n'
