find . -name '*.py' -print0 | xargs -0 grep -l TODO
find . -type d -name __pycache__ -exec rm -rf {} +
