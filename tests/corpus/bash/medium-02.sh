curl -O https://example.com/data.csv
