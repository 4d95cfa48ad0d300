# SPDX-License-Identifier: GPL-2.0-or-later
"""The part "sampled": real programs of some seconds natively and sampled, one after the other, often enough to say how sure the ratio is."""

import os

from figures import geomean, median_interval, table, text, verdict

LEAST_TURNS = 10
NAMES = ("python3", "perl", "sqlite3", "cc1", "cc1plus")    # whose memory allows for twice the input
TIMES_INPUT = 2
LIMIT = 1.02


class Sampled:
    name = "sampled"

    def __init__(self, bench, programs, options):
        self.bench = bench
        self.programs = [p for p in programs if p.name in NAMES]
        self.tools = [t for t in bench.tools if t.name in ("native", "sampled")]
        self.turns = 1 if options.smoke else -(-LEAST_TURNS // options.rounds)    # of each round
        self.made = False
        self.cpu = {}

    def make(self):
        directory = f"{self.bench.directory}/sampled"
        os.makedirs(directory)
        for program in self.programs:
            program.make(directory, self.bench.size * TIMES_INPUT)
            program.sampled_argv = program.argv
            program.make(self.bench.directory, self.bench.size)
        self.made = True

    def jobs(self):
        if not self.made:
            self.make()
        for _ in range(self.turns):
            for program in self.programs:
                yield f"sampled {program.name}", lambda p=program: self.measure(p)

    def measure(self, program):
        times = self.cpu.setdefault(program.name, {})
        for tool in self.tools:
            result, _ = self.bench.go(tool, program.sampled_argv, environment=program.environment)
            times.setdefault(tool.name, []).append(result.cpu)

    def results(self):
        return {"cpu_seconds": self.cpu}

    def tables(self):
        found = {name: median_interval([s / n for s, n in zip(t["sampled"], t["native"])]) for name, t in self.cpu.items()}
        yield "Sampled: CPU over that of the native run just before, the median of all turns and where it lies"
        yield table(["program", "native s", "turns", "sampled / native", "from", "to", "confidence"],
                    [[name, text(min(self.cpu[name]["native"])), str(len(self.cpu[name]["native"])), text(middle, 3), text(low, 3),
                      text(high, 3), f"{percent:.0f} %"] for name, (middle, low, high, percent) in found.items()])
        yield verdict(geomean([f[0] for f in found.values()]), LIMIT, "sampled / native, geometric mean of the medians")
