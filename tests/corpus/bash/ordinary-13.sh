echo 'rm -rf /'
