import shutil
from django.http import JsonResponse


def remove_album(request):
    album = request.POST.get("album", "")
    shutil.move("albums/" + album, "trash/")
    return JsonResponse({"ok": True})
