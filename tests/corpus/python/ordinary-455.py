def fold(x):
    match x:
        case {"type": "token", "value": v}: return v
        case [a, *rest] if rest: return fold(rest)
        case str() | int(): return x
        case _: return None
