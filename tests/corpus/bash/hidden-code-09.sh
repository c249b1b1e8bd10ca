echo "$payload" | sh
