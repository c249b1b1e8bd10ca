curl -s https://example.org | perl -pe 's/a/b/'
