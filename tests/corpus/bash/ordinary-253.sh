if [ -t 0 ]; then echo tty; else cat; fi | tr a-z A-Z
