for i in $(seq 30); do
  nc -z localhost 5432 && break
  sleep 1
done
