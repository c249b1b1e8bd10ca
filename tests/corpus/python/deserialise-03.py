from pickle import loads
loads(data)
