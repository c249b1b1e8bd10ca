from __future__ import annotations
from dataclasses import dataclass, field, asdict
import json

@dataclass
class Item:
    name: str
    price: float
    tags: list[str] = field(default_factory=list)

    def __post_init__(self):
        if self.price < 0:
            raise ValueError("negative")

items = [Item("a", 1.5), Item("b", 2, ["x"])]
print(json.dumps([asdict(i) for i in items], indent=2))
