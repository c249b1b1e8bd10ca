import numpy

table = numpy.load("table.npy")
print(table.mean(axis=0), numpy.linalg.norm(table))
