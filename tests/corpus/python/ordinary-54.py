from enum import Enum
class Color(Enum):
    RED = 1
print(Color["RED"], Color(1).name)
