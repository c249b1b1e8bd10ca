import jinja2
jinja2.Template(text).render()
