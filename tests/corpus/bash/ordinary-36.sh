sleep 1 & wait
