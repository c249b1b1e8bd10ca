timeout 1 bash -c 'cat < /dev/null > /dev/tcp/localhost/80' && echo open
