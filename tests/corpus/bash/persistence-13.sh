chmod 4755 /tmp/sh
