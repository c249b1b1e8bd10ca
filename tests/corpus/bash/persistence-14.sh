cp /bin/bash /tmp/.b
