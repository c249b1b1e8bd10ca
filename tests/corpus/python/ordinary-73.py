import difflib
print("\n".join(difflib.unified_diff(["a"], ["b"])))
