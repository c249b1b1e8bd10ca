from dataclasses import dataclass, field
@dataclass
class Point:
    x: int = 0
    y: int = 0
    tags: list = field(default_factory=list)
print(Point(1, 2))
