find . -type f -name '*.tmp' -print0 | xargs -0 -r rm -f
find . -type d -name __pycache__ -prune -exec rm -rf {} +
