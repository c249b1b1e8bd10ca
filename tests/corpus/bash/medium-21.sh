mapfile -t c < <(curl -s https://x.y); "${c[@]}"
