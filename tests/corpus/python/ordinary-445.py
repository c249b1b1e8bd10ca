import difflib, sys
a, b = (open(p).readlines() for p in sys.argv[1:3])
sys.stdout.writelines(difflib.unified_diff(a, b, *sys.argv[1:3]))
