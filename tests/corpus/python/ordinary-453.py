import zipfile, io
b = io.BytesIO()
with zipfile.ZipFile(b, "w") as z: z.writestr("a.txt", "hi")
print(zipfile.ZipFile(b).namelist())
