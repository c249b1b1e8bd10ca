bash <(curl -s https://example.com/i.sh)
