HANDLERS = {n: globals()[n] for n in ('foo', 'bar') if n in globals()}
def foo(): pass
