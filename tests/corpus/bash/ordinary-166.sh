for i in 1 2 3; do
  work "$i" &
done
wait
