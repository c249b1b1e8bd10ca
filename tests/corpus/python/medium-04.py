import shutil
shutil.rmtree('build')
