import ruamel.yaml
ruamel.yaml.YAML(typ="unsafe").load(x)
