def s():
    r = None
    def t():
        nonlocal r
        r = eval
    t()
    r("1")
s()
