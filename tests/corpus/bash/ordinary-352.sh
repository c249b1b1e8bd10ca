docker build -t app:latest .
docker run --rm -p 8080:80 app:latest
docker compose up -d
