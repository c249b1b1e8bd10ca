import sys, io
old = sys.stdout
sys.stdout = io.StringIO()
print("x")
sys.stdout = old
