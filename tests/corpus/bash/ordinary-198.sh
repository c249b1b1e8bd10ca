while IFS=, read -r name age _; do
  echo "$name is $age"
done < people.csv
