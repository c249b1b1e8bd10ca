import shutil, os
shutil.rmtree("build", ignore_errors=True)
shutil.copytree("src", "build/src")
shutil.make_archive("out", "zip", "build")
os.replace("out.zip", "dist.zip")
