at -l; atq; batch_size=32; echo "$batch_size"
