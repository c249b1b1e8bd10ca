mapfile -t lines < file
echo "${#lines[@]}"
