import pickle
class U(pickle.Unpickler):
    pass
pickle.Unpickler(f).load()
