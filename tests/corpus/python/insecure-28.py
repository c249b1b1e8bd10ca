from django.contrib.auth.models import User
def find(q):
    return User.objects.extra(where=["name = '%s'" % q])
