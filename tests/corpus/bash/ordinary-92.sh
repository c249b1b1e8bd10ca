history 10
