import yaml
yaml.safe_load(open("c.yml"))
yaml.load(open("c.yml"), Loader=yaml.SafeLoader)
