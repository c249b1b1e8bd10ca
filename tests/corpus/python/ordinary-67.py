import django.db.models as models
qs = Model.objects.filter(x=1).annotate(n=models.Count("y"))
qs.delete()
