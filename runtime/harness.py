"""Runs one script in the interpreter that has just started.

Everything here happens before the first line of the script, but for the last call. The verdict
goes to descriptor 3 as one fixed-size record, and the descriptor is closed before the script
runs, so a script cannot write a verdict of its own.
"""
import sys


def verdict(kind, line=0, column=0, message=""):
    from posix import close, write

    text = message.encode("utf-8", "replace")[:499]
    numbers = b"".join(n.to_bytes(4, sys.byteorder) for n in (kind, line, column))
    write(3, numbers + text + bytes(500 - len(text)))
    close(3)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def compile_script(path):
    """The code object, or None after a verdict that says what is wrong."""
    try:
        code = compile(read(path), path, "exec", 0, True)
    except SyntaxError as error:
        verdict(2, error.lineno or 0, error.offset or 0, error.msg or "invalid syntax")
    except (ValueError, OverflowError, RecursionError, MemoryError) as error:
        verdict(2, 0, 0, str(error) or type(error).__name__)
    else:
        verdict(1)
        return code
    return None


def make_main(path):
    """A fresh __main__ that looks as if the script had been started by name."""
    main = type(sys)("__main__")
    main.__file__ = path
    main.__cached__ = None
    main.__annotations__ = {}
    main.__builtins__ = __builtins__
    main.__loader__ = sys.modules["_frozen_importlib_external"].SourceFileLoader("__main__", path)
    sys.modules["__main__"] = main
    return main.__dict__


def report(error):
    """What the interpreter does with an uncaught exception, without our own frame in it."""
    error.__traceback__ = error.__traceback__.tb_next
    sys.last_type, sys.last_value = type(error), error
    sys.last_traceback = error.__traceback__
    sys.excepthook(type(error), error, error.__traceback__)


def run(code, names):
    try:
        exec(code, names)
    except SystemExit:
        raise
    except KeyboardInterrupt as error:
        report(error)
        import os
        import signal

        sys.stdout.flush()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException as error:
        report(error)
        sys.exit(1)


def start():
    path, check_only = sys.argv[1], sys.argv[2] == "check"
    code = compile_script(path)
    if code is None or check_only:
        sys.exit(0)
    sys.argv[:] = [path, *sys.argv[3:]]
    sys.path.insert(0, "/work")
    for stream in sys.stdout, sys.stderr:
        stream.reconfigure(line_buffering=True)
    run(code, make_main(path))


start()
