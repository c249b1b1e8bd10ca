ps aux | awk '$3 > 50 {print $2, $11}'
