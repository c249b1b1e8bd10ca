if "DEBUG" in globals():
    print("debug")
name = globals().get("__name__")
print(name)
