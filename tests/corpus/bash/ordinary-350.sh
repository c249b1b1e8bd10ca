while read -r name age; do
  printf '%s is %d\n' "$name" "$age"
done < people.txt
