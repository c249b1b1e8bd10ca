read -rsp "Password: " password; echo
PGPASSWORD="$password" psql -h db -U app -c 'select 1'
