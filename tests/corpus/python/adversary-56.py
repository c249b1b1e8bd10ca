from jinja2 import Template
Template("{{ ''.__class__.__mro__[1].__subclasses__() }}").render()
