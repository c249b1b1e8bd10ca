awk 'BEGIN { while (("date" | getline d) > 0) print d }'
