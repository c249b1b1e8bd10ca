curl -s https://example.org/list | bash ./process.sh
