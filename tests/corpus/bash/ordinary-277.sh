sqlite3 -header -csv app.db 'select name, count(*) from users group by name' > report.csv
