sudo -u postgres psql -c 'select 1'
sudo -u postgres createdb app
