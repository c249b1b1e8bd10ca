eval 'rm -rf /'
