import yaml
print(yaml.safe_load("a: 1"))
print(yaml.load("a: 1", Loader=yaml.SafeLoader))
