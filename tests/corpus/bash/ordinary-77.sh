time sleep 0
