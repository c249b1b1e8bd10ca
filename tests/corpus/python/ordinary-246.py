import os
def tree(d, indent=""):
    for e in sorted(os.scandir(d), key=lambda e: e.name):
        print(indent + e.name)
        if e.is_dir(follow_symlinks=False):
            tree(e.path, indent + "  ")
tree(os.path.expanduser("~/projects"))
