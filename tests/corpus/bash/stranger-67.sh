grep -ri password / 2>/dev/null
