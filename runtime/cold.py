

def end(code, leave=posix._exit):
    """The mark, which the kernel ignores, tells the launcher (src/jar/farewell.c)."""
    leave(0x62656C00 | code)  # a script may have put something else in its place


prepare()
start(sys.argv[1], None, sys.argv[2] == "check", sys.argv[3:])
