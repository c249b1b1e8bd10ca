import jinja2
env = jinja2.Environment(loader=None, autoescape=False)
