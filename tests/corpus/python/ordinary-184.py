from typing import Any, Callable, TypeVar, get_type_hints
T = TypeVar("T")
Handler = Callable[[str], Any]
registry: dict[str, Handler] = {}
def register(n: str):
    def d(f: Handler) -> Handler:
        registry[n] = f
        return f
    return d
@register("echo")
def echo(s: str) -> str: return s
print(registry["echo"]("x"), get_type_hints(echo))
