php -r 'echo "id";' | sh
