chown -R nobody:nobody /
