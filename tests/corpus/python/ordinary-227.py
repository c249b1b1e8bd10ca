def test_a(): return 1
def test_b(): return 2
for n, f in sorted(globals().copy().items()):
    if n.startswith("test_"):
        print(n, f())
