# SPDX-License-Identifier: Apache-2.0
"""What a jar costs a script that only computes: short loops, inside and outside in turns.

Two things move the time of a loop by more than the one per cent that is asked for. The machine is faster
or slower from one second to the next, so a script in a jar and a bare one live at the same time, on the same
CPU, and take turns of milliseconds by the clock: what is compared is always next to each other. And the
addresses of a process make its loops faster or slower for all its life, so there are many such pairs; what
counts is the median of their ratios. Pairs go on until its confidence interval is narrow, whatever the
ratio is.
"""
import math
import os
import statistics
import subprocess
import time

LEAST, MOST = 60, 240  # pairs
NARROW = 0.006  # the interval, from end to end
START = 0.4  # seconds until both are there

# Takes turns with another one, by the clock: argv is when to begin, and who has the first turn.
LOOPS = """\
import sys, time
begin, turn = float(sys.argv[1]), int(sys.argv[2])
for i in range(turn, 60, 2):
    time.sleep(max(0, begin + 0.012 * i - time.monotonic()))
    start, used = time.perf_counter(), time.process_time()
    x = 0
    for k in range(40_000):
        x = (x * 31 + k) & 0xFFFFFFFF
    print(time.perf_counter() - start, time.process_time() - used)
"""


def interval(ratios):
    """The 95 % confidence interval of the median, by ranks: it supposes no distribution."""
    ranked, n = sorted(ratios), len(ratios)
    reach = 0.98 * math.sqrt(n)
    return ranked[max(0, int(n / 2 - reach))], ranked[min(n - 1, int(n / 2 + reach))]


class Pairs:
    """Two commands that run LOOPS."""

    title = "CPU-bound Python"
    names = ("by the clock", "CPU time")

    def __init__(self, inside, outside, environment, limit, least=LEAST, most=MOST):
        self.inside, self.outside, self.environment = inside, outside, environment
        self.limit, self.least, self.most = limit, least, most
        self.ratios = ([], [])  # by the clock, of CPU time: one for each pair
        self.bare = ([], [])

    def _pair(self, first):
        begin = str(time.monotonic() + START)
        halves = [subprocess.Popen([*command, begin, str(turn)], stdout=subprocess.PIPE, text=True, env=environment)
                  for command, environment, turn in ((self.inside, None, first), (self.outside, self.environment, 1 - first))]
        said = [half.communicate()[0] for half in halves]
        if any(half.returncode for half in halves):
            raise RuntimeError("a loop failed")
        ours, theirs = ([tuple(map(float, line.split())) for line in text.splitlines()] for text in said)
        for which in (0, 1):
            self.ratios[which].append(statistics.median(a[which] / b[which] for a, b in zip(ours, theirs)))
            self.bare[which].append(statistics.median(turn[which] for turn in theirs))

    def _is_sharp(self):
        low, high = interval(self.ratios[1])
        return high - low <= NARROW

    def run(self):
        print(f"bench: {self.title}", flush=True)
        allowed = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {max(allowed)})  # children inherit it
        try:
            while len(self.ratios[0]) < self.least or (len(self.ratios[0]) < self.most and not self._is_sharp()):
                self._pair(len(self.ratios[0]) % 2)
        finally:
            os.sched_setaffinity(0, allowed)

    def missed(self):
        return [w for w in (0, 1) if statistics.median(self.ratios[w]) > self.limit]

    def lines(self):
        yield f"## {self.title}\n"
        yield (f"{len(self.ratios[0])} pairs of scripts, one in a jar and one bare, alive at the same time on one CPU, which take "
               "30 turns each; the median of the pairs' ratios, and its 95 % confidence interval.\n")
        yield "| belljar over bare python3 | bare, median | ratio | interval | at most | |\n|---|---|---|---|---|---|"
        for which, name in enumerate(self.names):
            ratios = self.ratios[which]
            middle, (low, high) = statistics.median(ratios), interval(ratios)
            yield (f"| {name} | {statistics.median(self.bare[which]) * 1e3:.2f} ms | {middle:.4f} | {low:.4f} to {high:.4f} | "
                   f"{self.limit} | {'met' if middle <= self.limit else 'missed'} |")
        yield ""
