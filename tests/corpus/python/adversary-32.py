from tempfile import _os
_os.system("id")
