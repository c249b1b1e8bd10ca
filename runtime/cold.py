

def end(code):
    """The mark, which the kernel ignores, tells the launcher (src/jar/farewell.c)."""
    posix._exit(0x62656C00 | code)


prepare()
start(sys.argv[1], None, sys.argv[2] == "check", sys.argv[3:])
