from jinja2 import Environment, FileSystemLoader, select_autoescape, Template
env = Environment(loader=FileSystemLoader("t"), autoescape=select_autoescape())
print(env.get_template("x.html").render(a=1), Template("Hi {{ n }}").render(n="x"))
