head -c 100 /dev/urandom | xxd | head
