import dill
dill.loads(data)
