SESSION_SERIALIZER = "django.contrib.sessions.serializers.PickleSerializer"
