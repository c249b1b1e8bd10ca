from urllib.request import urlopen
from django.http import JsonResponse


def length(request):
    host = request.GET["host"]
    with urlopen(f"https://{host}/status.json") as answer:
        return JsonResponse({"length": len(answer.read())})
