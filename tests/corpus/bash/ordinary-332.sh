redis-cli ping
