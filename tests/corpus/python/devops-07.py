import sys
sys.path.insert(0, "src")
sys.setrecursionlimit(3000)
sys.stdout.reconfigure(encoding="utf-8")
print(sys.version_info, sys.modules.keys() and len(sys.modules))
