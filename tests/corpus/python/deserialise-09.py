import yaml
yaml.load(text, Loader=yaml.UnsafeLoader)
