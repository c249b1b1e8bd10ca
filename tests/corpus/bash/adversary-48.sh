enable -f /tmp/evil.so evil
