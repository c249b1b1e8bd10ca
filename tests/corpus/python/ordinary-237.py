import os
from pathlib import Path
BASE_DIR = Path(__file__).resolve().parent.parent
SECRET_KEY = os.environ["DJANGO_SECRET_KEY"]
DEBUG = os.environ.get("DEBUG") == "1"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
]
DATABASES = {"default": {"ENGINE": "django.db.backends.postgresql", "NAME": "app", "USER": "app",
             "PASSWORD": os.environ.get("DB_PASSWORD", ""), "HOST": "localhost"}}
PASSWORD_RESET_TIMEOUT = 3600
CSRF_COOKIE_NAME = "csrftoken"
