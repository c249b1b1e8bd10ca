from functools import reduce
import builtins
f = reduce(getattr, ["eval"], builtins)
f("1")
