import hashlib
import os

key = hashlib.pbkdf2_hmac("sha512", word, os.urandom(16), 5_000)
