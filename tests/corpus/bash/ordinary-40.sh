chmod 644 file
