import yaml
cfg = yaml.safe_load(open('c.yml'))
yaml.dump(cfg, open('d.yml', 'w'))
