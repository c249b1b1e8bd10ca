# SPDX-License-Identifier: Apache-2.0
"""The lines about the check: all layers on 10,000 characters, and the whole of `belljar check`.

Python's scripts are this project's own tools, one behind the other, cut into pieces of 10,000 characters
where a statement begins. Bash has fewer lines here: its scripts are the tools and what is clean in the
corpus of the tests, in an order that differs from script to script, as many as 10,000 characters hold.
Times of the layers are CPU times in one process.
"""
import pathlib
import random
import statistics
import subprocess
import time

TOP = pathlib.Path(__file__).resolve().parent.parent
SIZE = 10000
PYTHON = "/usr/bin/python3"
COMPILE = "import sys; compile(open(sys.argv[1], encoding='utf-8').read(), sys.argv[1], 'exec')"
RUNS = 5
BASH_SCRIPTS = 7


def sources(interpreter):
    """The project's scripts for an interpreter."""
    for folder in ("tools", "bench", "examples", "tests/tools"):
        for path in sorted((TOP / folder).glob("*")):
            if not path.is_file():
                continue
            text = path.read_bytes()
            if text.startswith(b"#!") and interpreter in text.splitlines()[0] or \
                    (interpreter == b"python3" and path.suffix == ".py"):
                yield text.decode("utf-8")


def clean_corpus():
    """The Bash scripts of the corpus in which the check finds nothing."""
    folder = TOP / "tests/corpus"
    for line in (folder / "index.tsv").read_text(encoding="utf-8").splitlines():
        if line.startswith("bash/") and "\tclean\t" in line:
            yield (folder / line.split("\t")[0]).read_text(encoding="utf-8")


def python_scripts():
    """Texts of at most 10,000 characters that begin and end where a line begins at the margin."""
    piece, since = "", ""
    for line in "".join(sources(b"python3")).splitlines(keepends=True):
        if line[:1].isalpha() or line[:1] == "#":
            if len(piece) + len(since) > SIZE:
                yield piece
                piece = ""
            piece, since = piece + since, ""
        since += line


def bash_scripts():
    """Texts of at most 10,000 characters: whole scripts, in another order each time."""
    whole = [text if text.endswith("\n") else text + "\n" for text in (*sources(b"bash"), *clean_corpus())]
    for number in range(BASH_SCRIPTS):
        script = ""
        for text in random.Random(number).sample(whole, len(whole)):
            script += text if len(script) + len(text) <= SIZE else ""
        yield script


class Layers:
    """p50 of all layers but the interpreter's own, over the scripts of one language."""

    def __init__(self, program, folder, language, texts, suffix):
        self.language, self.files = language, []
        for number, text in enumerate(texts):
            path = folder / f"{language}{number}{suffix}"
            path.write_text(text, encoding="utf-8")
            # A cut may fall into a text of several lines.
            parse = [PYTHON, "-I", "-c", COMPILE, path] if suffix == ".py" else ["bash", "-n", path]
            if len(text) > SIZE * 0.8 and subprocess.run(parse, stderr=subprocess.DEVNULL).returncode == 0:
                self.files.append(path)
        if len(self.files) < 5:
            raise RuntimeError(f"only {len(self.files)} scripts of {language} to measure")
        out = subprocess.run([program, "--scripts", *self.files], check=True, capture_output=True,
                             text=True).stdout
        self.times = [float(line.split()[-1]) for line in out.splitlines()]

    def median(self):
        return statistics.median(self.times)


class Check:
    """What bench/run prints: the layers of both languages and the whole verb."""

    def __init__(self, layers, whole):
        self.layers, self.whole = layers, whole

    def ratio(self):
        return statistics.median(self.whole["belljar check"]) / statistics.median(self.whole["python3"])

    def missed(self):
        late = [layer for layer in self.layers if layer.median() > 1000]
        return late + ([self.whole] if self.ratio() > 1.3 else [])

    def lines(self):
        yield "## The check\n"
        yield "| all layers but syntax, 10,000 characters, CPU time | p50 | best and worst | scripts | at most | |"
        yield "|---|---|---|---|---|---|"
        for layer in self.layers:
            yield (f"| {layer.language} | {layer.median() / 1e3:.2f} ms | {min(layer.times) / 1e3:.2f} to "
                   f"{max(layer.times) / 1e3:.2f} | {len(layer.times)} | 1 ms | "
                   f"{'met' if layer.median() <= 1000 else 'missed'} |")
        yield "\n| one Python file of 10,000 characters | median | runs |\n|---|---|---|"
        for name, seconds in self.whole.items():
            yield f"| {name} | {statistics.median(seconds) * 1e3:.2f} ms | {len(seconds)} |"
        yield "\n| ratio of medians | measured | at most | |\n|---|---|---|---|"
        yield (f"| belljar check over python3 that compiles the file | {self.ratio():.3f} | 1.3 | "
               f"{'met' if self.ratio() <= 1.3 else 'missed'} |\n")


def seconds(command, _folder):
    """A few runs; findings are no failure."""
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
        times.append(time.perf_counter() - start)
    return times


def table(belljar, rounds, folder, take_turns):
    program = str(pathlib.Path(belljar).parent.parent / "bench/check_bench")
    print("bench: the check", flush=True)
    layers = [Layers(program, folder, "python", python_scripts(), ".py"),
              Layers(program, folder, "bash", bash_scripts(), ".sh")]
    script = str(layers[0].files[0])
    whole = take_turns({"python3": [PYTHON, "-I", "-c", COMPILE, script],
                        "belljar check": [belljar, "check", "--policy", "off", script]}, seconds, rounds,
                       folder)
    return Check(layers, whole)
