find . -name '*.md' -exec sh -c 'pandoc "$1" -o "${1%.md}.html"' _ {} \;
