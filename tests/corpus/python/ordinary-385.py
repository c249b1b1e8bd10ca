from django.http import JsonResponse
from django.shortcuts import render


def hello(request):
    return render(request, "hello.html", {"who": request.GET.get("who", "you")})


def count(request):
    return JsonResponse({"count": int(request.GET.get("n", "0")) + 1})
