psql -c "drop table users cascade" prod
