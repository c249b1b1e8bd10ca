import typing as t
def first(xs: t.Sequence[int], default: t.Optional[int] = None) -> t.Optional[int]:
    return xs[0] if xs else default
print(first([1]))
