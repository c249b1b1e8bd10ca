from typing import NamedTuple, Iterator
import re
class Token(NamedTuple):
    type: str
    value: str
def tokenize(s: str) -> Iterator[Token]:
    spec = [("NUMBER", r"\d+"), ("OP", r"[+*/-]"), ("SKIP", r"\s+")]
    for m in re.finditer("|".join(f"(?P<{n}>{p})" for n, p in spec), s):
        if m.lastgroup != "SKIP":
            yield Token(m.lastgroup, m.group())
token = next(tokenize("1 + 2"))
token_type = "NUMBER"
if token.type == "NUMBER":
    print(token)
