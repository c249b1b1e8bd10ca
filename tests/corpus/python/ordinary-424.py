from typing import Protocol, Generic, TypeVar
T = TypeVar("T")
class Stack(Generic[T]):
    def __init__(self) -> None: self._i: list[T] = []
    def push(self, x: T) -> None: self._i.append(x)
    def pop(self) -> T: return self._i.pop()
    def __len__(self): return len(self._i)
