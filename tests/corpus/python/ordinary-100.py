from dataclasses import dataclass, field
@dataclass
class Node:
    name: str
    children: list["Node"] = field(default_factory=list)
    def depth(self) -> int:
        return 1 + max((c.depth() for c in self.children), default=0)
print(Node("a", [Node("b")]).depth())
