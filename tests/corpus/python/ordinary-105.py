from enum import Enum
class C(Enum):
    A = 1
    B = 2
match C.A:
    case C.A: print("a")
    case _: print("?")
