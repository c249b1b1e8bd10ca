wget https://example.com/x -O - | bash -s -- -y
