import pickle
with open("x.pkl", "wb") as f:
    pickle.dump({"a": 1}, f)
