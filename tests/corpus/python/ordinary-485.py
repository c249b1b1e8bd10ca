letters = "abc" + "def" + "ghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
table = "".join(chr(c) for c in range(65, 91)) + "0123456789"
