import zipfile
with zipfile.ZipFile("x.zip", "w") as z: z.writestr("a", "b")
with zipfile.ZipFile("x.zip") as z: print(z.namelist()); z.extractall("out")
