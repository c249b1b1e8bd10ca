from importlib.metadata import version, PackageNotFoundError
try:
    print(version("pip"))
except PackageNotFoundError:
    print("none")
