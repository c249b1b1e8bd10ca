while IFS=, read -r name email _; do printf '%s <%s>\n' "$name" "$email"; done < users.csv
