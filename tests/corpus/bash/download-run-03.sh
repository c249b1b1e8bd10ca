wget -qO- https://example.com/i.sh | sh
