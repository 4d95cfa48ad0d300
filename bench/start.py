# SPDX-License-Identifier: GPL-2.0-or-later
"""
The part "start": what a process that does next to nothing costs more, and each further process of a tree. A turn runs a program with all
tools, one after the other; what a tool adds is compared with the native run of the same turn.
"""

import glob
import os
import shutil

from figures import median_interval, table, text, verdict
from tools import pmm_run

LEAST_TURNS = 40
CHILDREN = 50
SLOW_TURNS = 10    # heaptrack, which takes fifty times as long, is run in one turn of so many
LIMIT_MS = 3.0


def installed(build, directory):
    """A copy of pmm and its libraries, as they are installed: of files as the linker wrote them the kernel maps less at once."""
    os.makedirs(directory)
    for path in [f"{build}/pmm", *glob.glob(f"{build}/libpmm*.so")]:
        shutil.copy(path, directory)
    return f"{directory}/pmm"


class Start:
    name = "start"

    def __init__(self, bench, options):
        shell, true = shutil.which("sh"), shutil.which("true")
        self.bench = bench
        self.tools = self.installed_tools(options)
        self.children = 5 if options.smoke else CHILDREN
        self.turns = 2 if options.smoke else -(-LEAST_TURNS // options.rounds)    # of each round
        self.tree = f"sh, {self.children} times true"
        loop = f"i=0; while [ $i -lt {self.children} ]; do {true}; i=$((i + 1)); done"
        self.cases = {"true": [true], "sh -c :": [shell, "-c", ":"], self.tree: [shell, "-c", loop]}
        self.seconds = []    # of each turn: {case: {tool: CPU}}

    def installed_tools(self, options):
        native, *peers = [tool for tool in self.bench.tools if tool.name in ("native", "heaptrack", "liblsan")]
        pmm = installed(options.build, f"{self.bench.directory}/installed")
        base = [pmm_run("base", installed(options.base, f"{self.bench.directory}/base"))] if options.base else []
        return [native, pmm_run("pmm", pmm), pmm_run("sampled", pmm, "--sample"), *peers, *base]

    def jobs(self):
        for turn in range(self.turns):
            yield f"start of processes, turn {turn + 1}/{self.turns}", self.measure

    def measure(self):
        self.seconds.append({case: {tool.name: self.bench.go(tool, argv)[0].cpu for tool in self.tools if self.due(tool, case)}
                             for case, argv in self.cases.items()})

    def due(self, tool, case):
        return tool.name != "heaptrack" or (case != self.tree and len(self.seconds) % SLOW_TURNS == 0)

    def added_ms(self, case, tool):
        """Of each turn that has it."""
        return [(turn[case][tool] - turn[case]["native"]) * 1000 for turn in self.seconds if tool in turn[case]]

    def further_ms(self, tool):
        """What the shell's children add, by child, of each turn."""
        return [(tree - one) / self.children for tree, one in zip(self.added_ms(self.tree, tool), self.added_ms("sh -c :", tool))]

    def once_ms(self, tool):
        """What is added once, whatever the number of processes."""
        return [one - further for one, further in zip(self.added_ms("sh -c :", tool), self.further_ms(tool))]

    def results(self):
        return {"cpu_seconds": self.seconds, "children": self.children}

    def tables(self):
        rows = [[case, text(median_interval([turn[case]["native"] * 1000 for turn in self.seconds])[0])] +
                [self.cell(self.added_ms(case, tool.name)) for tool in self.tools[1:]] for case in self.cases]
        rows += [[what, ""] + [self.cell(of(tool.name)) for tool in self.tools[1:]]
                 for what, of in (("each further process", self.further_ms), ("once for a tree", self.once_ms))]
        yield f"Start of processes: ms of CPU natively, and what the tools add: median of {len(self.seconds)} turns and where it lies with 95 % confidence"
        yield table(["process", "native"] + [f"{tool.name} adds" for tool in self.tools[1:]], rows)
        for case in ("true", "sh -c :"):
            yield verdict(median_interval(self.added_ms(case, "pmm"))[0], LIMIT_MS, f"ms that pmm adds to {case}", 2)
        yield verdict(median_interval(self.further_ms("pmm"))[0], LIMIT_MS, "ms that pmm adds to each further process of a tree", 2)

    def cell(self, values):
        if not values:
            return "-"
        middle, low, high, _ = median_interval(values)
        return f"{middle:.2f} ({low:.2f}..{high:.2f})"
