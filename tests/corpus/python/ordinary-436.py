import yaml
print(yaml.safe_load(open("x.yml")))
print(yaml.load(open("x.yml"), Loader=yaml.SafeLoader))
