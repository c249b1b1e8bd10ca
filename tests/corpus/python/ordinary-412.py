from dataclasses import dataclass, field, asdict
@dataclass(frozen=True, order=True)
class Item:
    name: str
    price: float = 0.0
    tags: list[str] = field(default_factory=list)
print(asdict(Item("a", 1.5, ["x"])))
