# SPDX-License-Identifier: GPL-2.0-or-later
"""The part "sampled": real programs of some seconds natively and sampled, one after the other, often enough to say how sure the ratio is."""

import os

from figures import geomean, median_interval, table, text, verdict

LEAST_TURNS = 10
NAMES = ("python3", "perl", "sqlite3", "cc1", "cc1plus", "jq")    # whose memory allows for several times the input
SECONDS = 3.0         # that a native run takes at least
MARGIN = 1.25         # more than that is aimed at: the machine may be quieter later
LIMIT = 1.02


class Sampled:
    name = "sampled"

    def __init__(self, bench, programs, options):
        self.bench = bench
        self.programs = [p for p in programs if p.name in NAMES]
        self.tools = [t for t in bench.tools if t.name in ("native", "sampled")]
        self.native = self.tools[0]
        self.turns = 1 if options.smoke else -(-LEAST_TURNS // options.rounds)    # of each round
        self.argv = {}
        self.cpu = {}

    def make(self):
        """The input that each program takes long enough for: so many times the one that takes what it takes now."""
        directory = f"{self.bench.directory}/sampled"
        os.makedirs(directory)
        for program in self.programs:
            took, _ = self.bench.go(self.native, program.argv, environment=program.environment)
            times = max(1, SECONDS * self.bench.size * MARGIN / took.cpu)
            program.make(directory, self.bench.size * times)
            self.argv[program.name] = program.argv
            program.make(self.bench.directory, self.bench.size)

    def jobs(self):
        if not self.argv:
            self.make()
        for _ in range(self.turns):
            for program in self.programs:
                yield f"sampled {program.name}", lambda p=program: self.measure(p)

    def measure(self, program):
        times = self.cpu.setdefault(program.name, {})
        for tool in self.tools:
            result, _ = self.bench.go(tool, self.argv[program.name], environment=program.environment)
            times.setdefault(tool.name, []).append(result.cpu)

    def results(self):
        return {"cpu_seconds": self.cpu}

    def ratios(self):
        """{program: sampled / native of each turn}"""
        return {name: [s / n for s, n in zip(t["sampled"], t["native"])] for name, t in self.cpu.items()}

    def tables(self):
        ratios = self.ratios()
        found = {name: median_interval(r) for name, r in ratios.items()}
        together = median_interval([geomean(turn) for turn in zip(*ratios.values())]) if ratios else None
        if together:
            found["all, geometric mean"] = together
        yield "Sampled: CPU over that of the native run just before, the median of all turns and where it lies"
        yield table(["program", "native s", "turns", "sampled / native", "from", "to", "confidence"],
                    [[name, text(self.least(name)), str(len(next(iter(ratios.values())))), text(middle, 3), text(low, 3),
                      text(high, 3), f"{percent:.0f} %"] for name, (middle, low, high, percent) in found.items()])
        yield verdict(together and together[0], LIMIT, "sampled / native, median of the turns' geometric means")
        short = [name for name in ratios if self.least(name) < SECONDS]
        if short:
            yield f"- of programs that take less than {SECONDS:g} s natively: {', '.join(short)}"

    def least(self, name):
        return min(self.cpu[name]["native"]) if name in self.cpu else None
