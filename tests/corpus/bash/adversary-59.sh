vi -c '!bash' -c q
