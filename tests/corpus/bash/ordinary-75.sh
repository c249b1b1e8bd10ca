read -r -p 'name? ' name; echo "$name"
