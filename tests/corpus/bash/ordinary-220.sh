read -rsp 'Password: ' password
echo
if [ -z "$password" ]; then echo "password is empty" >&2; exit 1; fi
PGPASSWORD="$password" psql -h localhost -U app -c 'select 1'
