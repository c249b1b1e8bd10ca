class Tokenizer:
    SPEC = [("NUMBER", r"\d+"), ("TOKEN", r"[a-z]+")]
    rx = "|".join("(?P<%s>%s)" % p for p in SPEC)
