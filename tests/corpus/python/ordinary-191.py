import yaml
print(yaml.safe_load("a: 1"))
print(yaml.load("a: 1", Loader=yaml.SafeLoader))
print(yaml.load("b: 2", yaml.CSafeLoader))
print(yaml.dump({"a": 1}))
