# SPDX-License-Identifier: Apache-2.0
"""What a jar costs a script that only computes: many short loops, inside and outside in pairs.

The address layout of a process makes a Python loop faster or slower by several per cent, for its whole
life, so a few long loops say nothing about one per cent. Here each pair is two new processes on the
same CPU, one after the other, in an order that alternates; what counts is the median of the ratios. Pairs
go on until its confidence interval is narrow, whatever the ratio is.
"""
import math
import os
import statistics
import subprocess

LEAST, MOST = 200, 800  # pairs
NARROW = 0.006  # the interval, from end to end


def interval(ratios):
    """The 95 % confidence interval of the median, by ranks: it supposes no distribution."""
    ranked, n = sorted(ratios), len(ratios)
    reach = 0.98 * math.sqrt(n)
    return ranked[max(0, int(n / 2 - reach))], ranked[min(n - 1, int(n / 2 + reach))]


class Pairs:
    """Two commands, each of which prints what its loop took: by the clock, and of CPU time."""

    title = "CPU-bound Python, the script's own loop"
    names = ("by the clock", "CPU time")

    def __init__(self, inside, outside, environment, limit, least=LEAST, most=MOST):
        self.inside, self.outside, self.environment = inside, outside, environment
        self.limit, self.least, self.most = limit, least, most
        self.taken = []  # of each pair: (inside, outside), each (clock, CPU)

    @staticmethod
    def _loop(command, environment=None):
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
        return tuple(float(part) for part in done.stdout.split())

    def _pair(self, turn):
        if turn % 2:
            inside = self._loop(self.inside)
            return inside, self._loop(self.outside, self.environment)
        outside = self._loop(self.outside, self.environment)
        return self._loop(self.inside), outside

    def ratios(self, which):
        return [inside[which] / outside[which] for inside, outside in self.taken]

    def _is_sharp(self):
        low, high = interval(self.ratios(1))
        return high - low <= NARROW

    def run(self):
        print(f"bench: {self.title}", flush=True)
        allowed = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {max(allowed)})  # children inherit it
        try:
            while len(self.taken) < self.least or (len(self.taken) < self.most and not self._is_sharp()):
                self.taken.append(self._pair(len(self.taken)))
        finally:
            os.sched_setaffinity(0, allowed)

    def missed(self):
        return [w for w in (0, 1) if statistics.median(self.ratios(w)) > self.limit]

    def lines(self):
        yield f"## {self.title}\n"
        yield (f"{len(self.taken)} pairs of new processes on one CPU, in an order that alternates; the median of the ratios "
               "of a pair, and its 95 % confidence interval.\n")
        yield "| belljar over bare python3 | bare, median | ratio | interval | at most | |\n|---|---|---|---|---|---|"
        for which, name in enumerate(self.names):
            ratios = self.ratios(which)
            middle, (low, high) = statistics.median(ratios), interval(ratios)
            bare = statistics.median(outside[which] for _, outside in self.taken)
            yield (f"| {name} | {bare * 1e3:.2f} ms | {middle:.4f} | {low:.4f} to {high:.4f} | {self.limit} | "
                   f"{'met' if middle <= self.limit else 'missed'} |")
        yield ""
