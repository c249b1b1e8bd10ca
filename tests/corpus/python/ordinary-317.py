import math
for n in ("sin", "cos"):
    print(getattr(math, n)(1.0))
import string
print(getattr(string, "ascii_" + "letters"))
