ssh root@host 'rm -rf /'
