mapfile -t lines < input.txt
echo "${#lines[@]}"
while read -r l; do echo "$l"; done < <(printf 'a\nb\n')
