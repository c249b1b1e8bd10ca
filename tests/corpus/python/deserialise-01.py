import pickle
obj = pickle.load(open('x.pkl', 'rb'))
