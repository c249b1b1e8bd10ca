import pickle
pickle.loads(data)
