kill -STOP 1
