import yaml
yaml.load(text)
