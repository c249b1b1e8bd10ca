psql shop -c 'DELETE FROM orders;'
