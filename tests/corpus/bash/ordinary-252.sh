while IFS=, read -r id name _; do
  printf '%s\t%s\n' "$id" "$name"
done < people.csv
