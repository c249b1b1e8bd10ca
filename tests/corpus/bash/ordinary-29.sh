python3 script.py --flag value
