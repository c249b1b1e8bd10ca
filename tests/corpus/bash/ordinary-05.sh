find . -name '*.pyc' -delete
