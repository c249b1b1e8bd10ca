pkill -f worker
