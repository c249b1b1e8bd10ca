from markupsafe import Markup
def page(name):
    return Markup("<b>" + name + "</b>")
