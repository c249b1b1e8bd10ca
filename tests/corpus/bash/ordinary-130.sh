docker build -t app:latest .
docker run --rm -p 8080:80 -v "$PWD/data:/data" app:latest
docker compose up -d
