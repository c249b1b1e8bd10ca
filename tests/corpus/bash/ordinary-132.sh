export API_KEY="${API_KEY:?missing}"
PASSWORD=$(pass show db)
TOKEN="$(cat token.txt)"
DB_PASSWORD=$DB_PASSWORD psql -c 'select 1'
