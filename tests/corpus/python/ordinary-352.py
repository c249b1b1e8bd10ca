def dispatch(obj, name):
    return getattr(obj, 'do_' + name)()
