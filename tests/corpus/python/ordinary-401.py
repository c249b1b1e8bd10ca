DEBUG = False
ALLOWED_HOSTS = ["shop.test", "www.shop.test"]
SESSION_COOKIE_SECURE = True
CORS_ALLOWED_ORIGINS = ["https://shop.test"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
