free -m
swapon --show
