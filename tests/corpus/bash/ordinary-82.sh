IFS=, read -r a b <<< '1,2'
echo "$a $b"
