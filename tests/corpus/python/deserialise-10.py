import yaml
yaml.unsafe_load(text)
