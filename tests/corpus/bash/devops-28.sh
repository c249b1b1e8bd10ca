curl -s https://example.org | node -e 'process.stdin.pipe(process.stdout)'
