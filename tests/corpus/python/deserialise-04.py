import cPickle as p
p.loads(data)
