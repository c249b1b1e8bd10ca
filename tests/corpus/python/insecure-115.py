DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.mysql",
        "NAME": "shop",
        "USER": "shop",
        "PASSWORD": "",
        "HOST": "db.test",
    }
}
