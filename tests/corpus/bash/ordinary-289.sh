echo "$LIST" | tr ',' '\n' | xargs -n1 sh -c 'echo "item $0"'
