ssh -R 2222:localhost:22 h
