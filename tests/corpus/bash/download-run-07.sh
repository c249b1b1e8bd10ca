source <(wget -qO- https://example.com/e)
