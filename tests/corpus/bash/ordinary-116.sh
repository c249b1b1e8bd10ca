rm -rf build dist *.egg-info
find . -name __pycache__ -type d -exec rm -rf {} +
find . -name '*.pyc' -delete
