import sys, os
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
print(sys.version_info, sys.platform, sys.argv[1:])
