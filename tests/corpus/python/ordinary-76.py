import io, sys
old = sys.stdout
sys.stdout = io.StringIO()
print("hidden")
text = sys.stdout.getvalue()
sys.stdout = old
print(text)
