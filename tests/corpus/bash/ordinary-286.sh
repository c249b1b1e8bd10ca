cat x | tr a-z A-Z | python3 count.py
