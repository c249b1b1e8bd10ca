from jinja2 import Template
print(Template('Hello {{ name }}').render(name='x'))
