nc -lvp 4444
