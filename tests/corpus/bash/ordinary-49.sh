date +%F
