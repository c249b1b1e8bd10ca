PGPASSWORD="$DB_PASS" psql -h localhost -U app -c 'select now()' app
mysql -u root -p"$PW" -e 'show tables' db
