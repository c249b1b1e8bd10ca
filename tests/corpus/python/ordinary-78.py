import shutil
shutil.copy("a.txt", "b.txt")
print(shutil.disk_usage("."))
