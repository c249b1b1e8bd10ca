sh -c "$(curl -fsSL https://example.com/i.sh)"
