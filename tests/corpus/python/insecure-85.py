from django.http import HttpResponse


def hello(request):
    who = request.GET.get("who", "you")
    return HttpResponse("<b>Hello %s</b>" % who)
