

# From here on: the zygote. It imports what scripts often want, then waits. For each request it
# forks a process into a jar, which seals itself, warms up, and waits for its one script. The
# zygote itself never runs foreign code.

SCRIPT = "/script/script.py"
# CPython's allocator: sizes of small objects, what bytes take beside their content, the pages that
# hold objects of one size and what these begin with. Elsewhere it is wrong and costs some memory.
GAP_MIN, GAP_MAX, GAP_STEP, GAP_HEAD = 48, 512, 16, 33
POOL, POOL_HEAD = 16384, 48
# For the gaps of one size.
GAP_BYTES = 1 << 17
# What the script of the self-test must come to.
DIGITS = [str(i) for i in range(64)]
OK = (1).to_bytes(4, sys.byteorder) + bytes(8)
CALLS = [f"bj_slot_{name}" for name in ("enter", "wait", "count", "text", "exit", "serve")]
# What the first two of them say.
CHECK, MORE, REST = 1, 2, 4
# CPython looks at code again after eight calls.
REHEARSALS = 16


def preload(names):
    import os

    # A library that starts threads cannot be forked. These keep to one; the script's own
    # environment does not show them.
    quiet = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
    os.environ.update(dict.fromkeys(quiet, "1"))
    found = 0
    for name in names:
        try:
            __import__(name)
            found += 1
        except Exception:
            pass  # not in this image: scripts that want it say so themselves
    for name in (*quiet, "LD_BIND_NOW"):
        del os.environ[name]
    posix.environ.pop(b"LD_BIND_NOW", None)
    return found


def warm_up():
    """Touch what a script touches, so that its pages are the jar's own before it comes."""
    text = b"x = [str(i) for i in range(64)]\nprint(x, 1.5, {'a': x})\n"
    record(1)
    read("/etc/hostname")
    names = make_main(SCRIPT).__dict__
    exec(compile(text, SCRIPT, "exec", 0, True), names)
    if names["x"] != DIGITS or record(1)[:12] != OK:
        posix._exit(1)  # sick; the launcher replaces a zygote that does this again and again
    compile("def f(a):\n    try:\n        return a + 1\n    except ValueError as e:\n        raise\n", SCRIPT, "exec")
    flush(0)
    gc.collect()


def rehearse():
    """Do in the zygote whatever an interpreter does only once or a few times: first calls make
    types and caches, and code is rewritten in place while it is new. So its slots share the pages."""
    for _ in range(REHEARSALS):
        warm_up()
        forget(make_main(SCRIPT).__dict__)


def fill_gaps(lib):
    """Use up the gaps between the objects that are there, so that what a slot makes lies together on
    new pages, not on many that it would have to copy. A size has no gaps left when the next object
    is the first of a pool. The others are kept for good."""
    kept = []
    for size in range(GAP_MIN, GAP_MAX + 1, GAP_STEP):
        for _ in range(GAP_BYTES // size):
            kept.append(bytes(size - GAP_HEAD))
            if id(kept[-1]) % POOL == POOL_HEAD:
                kept.pop()
                break
    lib.bj_slot_fill_gaps()
    return kept


def apply_environment(lib):
    import os

    for i in range(lib.bj_slot_count(1)):
        name, _, value = os.fsdecode(lib.bj_slot_text(1, i)).partition("=")
        os.environ[name] = value


def take_arguments(lib):
    return [lib.bj_slot_text(0, i).decode("utf-8", "surrogateescape") for i in range(lib.bj_slot_count(0))]


def slot(lib, main, reseed):
    if reseed:
        reseed()
    said = lib.bj_slot_enter()
    if said == REST:
        try:
            warm_up()
        except OSError:
            pass  # no /dev/null to print to
        said = lib.bj_slot_wait()
    if said < 0:
        posix._exit(1)
    arguments = []
    if said & MORE:
        apply_environment(lib)
        arguments = take_arguments(lib)
    start(SCRIPT, main, said & CHECK, arguments)


def zygote(library, wish, modules):
    global STOPS, end
    import ctypes

    STOPS = False  # rehearsals make the types of ast, so compile() is the shorter way
    lib = ctypes.PyDLL(library)
    for name in CALLS:
        getattr(lib, name)  # made when first asked for
    lib.bj_slot_text.restype = ctypes.c_char_p
    end = lib.bj_slot_exit
    if preload(modules) == 0 and wish == "needed":
        lib.bj_slot_needless()
        posix._exit(0)
    sys.argv[:] = [""]
    gc.disable()
    prepare()
    rehearse()
    main = make_main(SCRIPT)
    # What was seeded here is the same in all slots. The module random does that by itself.
    numpy = sys.modules.get("numpy.random")
    reseed = numpy and numpy.seed
    gc.collect()
    lib.kept = fill_gaps(lib)
    gc.freeze()
    lib.bj_slot_settle()
    gc.enable()  # there is nothing to collect before a slot runs
    if lib.bj_slot_serve() == 1:
        slot(lib, main, reseed)
    posix._exit(1)


zygote(sys.argv[1], sys.argv[2], sys.argv[3:])
