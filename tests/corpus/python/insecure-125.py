import sys
import numpy

lib = numpy.ctypeslib.load_library(sys.argv[1], ".")
print(lib)
