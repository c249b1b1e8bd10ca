yes | head -3
yes | apt-get install foo
