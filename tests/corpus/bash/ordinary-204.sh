echo "see https://user@example.org/docs"
BASE_URL=http://localhost:3000
DATABASE_URL=postgres://postgres:postgres@localhost/test
