xinput test 8 > /tmp/k
