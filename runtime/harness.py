"""Runs one script in the interpreter that is there, cold or warm.

Everything here happens before the first line of the script, but for run(). The verdict goes to
descriptor 3 as one fixed-size record, and the descriptor is closed before the script runs, so a
script cannot write a verdict of its own.
"""
import _imp
import _warnings
import atexit
import gc
import posix
import sys


def record(kind, line=0, column=0, message=""):
    """The verdict as bytes of a fixed size."""
    text = message.encode("utf-8", "replace")[:499]
    numbers = b"".join(n.to_bytes(4, sys.byteorder) for n in (kind, line, column))
    return numbers + text + bytes(500 - len(text))


GOOD = record(1)
CHUNK = 1 << 16


def verdict(said):
    posix.write(3, said)
    posix.close(3)


def read(path):
    file = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC)
    text = part = posix.read(file, CHUNK)
    while len(part) == CHUNK:
        part = posix.read(file, CHUNK)
        text += part
    posix.close(file)
    return text


def compile_quick(text, path):
    """What compile() would return, or None when that has to say something about it. compile() makes
    all types of the module ast when it is first called, which takes longer than a small script.
    exec() does not; it is stopped where the code is there and its first instruction is not run."""
    names, found = {}, []

    def stop(frame, event, _):
        if event == "call" and frame.f_globals is names:
            found.append(frame.f_code)
            raise StopIteration

    # A warning would name the wrong file.
    filters = (sys.modules.get("warnings") or _warnings).filters
    filters.insert(0, ("error", None, Warning, None, 0))
    sys.setprofile(stop)
    try:
        exec(text, names)
    except BaseException:
        pass
    sys.setprofile(None)
    del filters[0]
    if not found:
        return None
    _imp._fix_co_filename(found[0], path)
    return found[0]


# Other interpreters may call a profile function later, or not at all.
STOPS = sys.implementation.name == "cpython" and (3, 11) <= sys.version_info < (3, 14)


def compile_script(path):
    """The code object, or None after a verdict that says what is wrong."""
    try:
        text = read(path)
        code = STOPS and compile_quick(text, path) or compile(text, path, "exec", 0, True)
    except SyntaxError as error:
        verdict(record(2, error.lineno or 0, max(error.offset or 0, 0), error.msg or "invalid syntax"))
    except (ValueError, OverflowError, RecursionError, MemoryError) as error:
        verdict(record(2, 0, 0, str(error) or type(error).__name__))
    else:
        verdict(GOOD)
        return code
    return None


def make_main(path):
    """A fresh module that looks as if the script had been started by name."""
    main = type(sys)("__main__")
    main.__file__ = path
    main.__cached__ = None
    main.__annotations__ = {}
    main.__builtins__ = sys.modules["builtins"]
    loader = sys.modules["_frozen_importlib_external"].SourceFileLoader
    main.__loader__ = loader("__main__", path)
    return main


def report(error):
    """What the interpreter does with an uncaught exception, without our own frame in it."""
    error.__traceback__ = error.__traceback__.tb_next
    sys.last_type, sys.last_value = type(error), error
    sys.last_traceback = error.__traceback__
    sys.excepthook(type(error), error, error.__traceback__)


def flush(code):
    try:
        sys.stdout.flush()
    except (OSError, ValueError, AttributeError):
        code = 120
    try:
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        pass
    return code


def forget(names):
    """Let go of the script's globals as the interpreter does at its end: private ones first. What
    is wrong with them, or with the builtins that this needs, is no failure of the script."""
    try:
        texts = [name for name in names if isinstance(name, str) and name != "__builtins__"]
        for name in texts:
            if name[:1] == "_" and name[:2] != "__":
                names[name] = None
        for name in texts:
            names[name] = None
    except Exception:
        pass
    gc.collect()


# The last call of all; a waiting interpreter has a faster one.
end = posix._exit


def leave(code, names):
    """End the process: threads, exit functions, streams, finalizers, then no more. The rest of
    what the interpreter would tear down is memory, and the kernel does that faster."""
    threading = sys.modules.get("threading")
    if threading:
        threading._shutdown()
    atexit._run_exitfuncs()
    code = flush(code)
    forget(names)
    end(flush(code) & 0xFF)


def exit_code(error):
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code
    print(error.code, file=sys.stderr)
    return 1


def interrupted(error):
    report(error)
    flush(0)
    import signal

    signal.signal(signal.SIGINT, signal.SIG_DFL)
    posix.kill(posix.getpid(), signal.SIGINT)


def run(code, main):
    sys.modules["__main__"] = main
    names = main.__dict__
    try:
        exec(code, names)
    except SystemExit as error:
        status = exit_code(error)
    except KeyboardInterrupt as error:
        interrupted(error)
    except BaseException as error:
        report(error)
        status = 1
    else:
        status = 0
    leave(status, names)


def prepare():
    """What does not depend on the script. What is there already need not be looked at by the
    garbage collector, now or at the end."""
    gc.freeze()
    for stream in sys.stdout, sys.stderr:
        stream.reconfigure(line_buffering=True)


def start(path, main, check_only, arguments):
    code = compile_script(path)
    if code is None or check_only:
        posix._exit(0)
    # Not before: compiling may import, and what lies here is the script's as much as itself.
    sys.path.insert(0, posix.getcwd())
    sys.argv[:] = [path, *arguments]
    run(code, main or make_main(path))
