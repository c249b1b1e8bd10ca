echo x > /dev/null 2>&1
