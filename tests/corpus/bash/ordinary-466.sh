mysql -u root -p < schema.sql; mysql --login-path=x; mongosh --port 27018; psql -U app -p 5433
