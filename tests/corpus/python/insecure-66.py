import random
otp = random.randint(100000, 999999)
password = ''.join(random.sample('abcdef123', 6))
