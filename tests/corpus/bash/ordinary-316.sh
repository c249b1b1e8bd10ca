docker run -d --name db -e POSTGRES_PASSWORD="$PGPASS" -v pgdata:/var/lib/postgresql/data -p 5432:5432 postgres:16
docker rm -f db
docker volume rm pgdata
