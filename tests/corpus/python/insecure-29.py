from django.db.models.expressions import RawSQL
def f(u, qs):
    return qs.annotate(v=RawSQL("select a from b where c = '%s'" % u, []))
