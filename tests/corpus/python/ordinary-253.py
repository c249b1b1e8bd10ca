import zipfile
with zipfile.ZipFile("out.zip", "w", zipfile.ZIP_DEFLATED) as z:
    z.writestr("a.txt", "hello")
with zipfile.ZipFile("out.zip") as z:
    print(z.namelist(), z.read("a.txt"))
