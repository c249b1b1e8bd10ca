while true; do
  curl -fs localhost:8080/health && break
  sleep 2
done
