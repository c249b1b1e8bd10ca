from importlib import resources
print(resources.files("email").joinpath("__init__.py").is_file())
