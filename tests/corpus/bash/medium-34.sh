wget -q https://example.com/data.csv -O data.csv && wc -l data.csv
