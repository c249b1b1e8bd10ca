import math, os
print(getattr(math, "pi"), getattr(os, "O_BINARY", 0), getattr(os, "sched_getaffinity", None))
