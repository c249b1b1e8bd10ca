PARTS = ["usr", "share", "doc"]
path = "/" + "/".join(PARTS)
print(path)
