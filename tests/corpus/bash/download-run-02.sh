curl https://example.com/i.sh | sudo sh
