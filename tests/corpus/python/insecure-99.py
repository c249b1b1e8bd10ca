import hashlib
import time

session_token = hashlib.md5(str(time.time()).encode()).hexdigest()
