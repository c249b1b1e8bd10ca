import pickle
blob = pickle.dumps({"a": 1})
print(len(blob))
