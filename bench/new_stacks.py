# SPDX-License-Identifier: GPL-2.0-or-later
"""
The part "stacks": what the first block of a stack costs when there are ever more distinct stacks, and a block by a stack that was seen
before (bench/micro.c, "stacks"). The program says what its own threads took, the agent in them; what else the tree took, as the reading
at the end, is beside it.
"""

import re

from figures import ratio, summary, table, text, verdict
from measure import read

DEPTH = 20
NUMBERS = (1 << 16, 1 << 18, 1 << 20)
EVENTS = 10000000
LESS_FOR_HEAPTRACK = 10    # events: it takes microseconds for each
LIMIT_NS = 1000
FLAT = 1.2    # the most stacks over the fewest


class NewStacks:
    name = "stacks"

    def __init__(self, bench, smoke):
        self.bench = bench
        self.numbers = [n >> 6 for n in NUMBERS] if smoke else NUMBERS
        self.events = max(1000, int(EVENTS * bench.size))
        self.tools = bench.choose("native", "pmm", "sampled", "heaptrack", "liblsan")
        self.ns = {}    # case: tool: what was measured of each round
        self.peak_kib = {}    # the largest process, of pmm

    def jobs(self):
        for number in self.numbers:
            for tool in self.tools:
                yield f"{number} new stacks, {tool.name}", lambda n=number, t=tool: self.measure(n, 0, t)
        for tool in self.tools:
            yield f"{self.events} events by {self.numbers[-1]} stacks, {tool.name}", lambda t=tool: self.measure(self.numbers[-1], self.events, t)

    def measure(self, number, events, tool):
        events //= LESS_FOR_HEAPTRACK if tool.name == "heaptrack" else 1
        result, _ = self.bench.go(tool, [self.bench.program("bench_micro"), "stacks", str(number), str(DEPTH), str(events)])
        made_ns, events_ns = map(int, re.search(r"^stacks (\d+) ns, events (\d+) ns$", read(f"{self.bench.captures()}/log"), re.M).groups())
        if events:
            self.add(self.events_case(), tool, events_ns / events)
            return
        self.add(self.case(number), tool, made_ns / number)
        self.add(self.case(number), tool, result.cpu * 1e9 / number, "all")
        if tool.name == "pmm":
            self.peak_kib[self.case(number)] = result.rss_kib

    def add(self, case, tool, ns, which="own"):
        self.ns.setdefault(case, {}).setdefault(tool.name, {}).setdefault(which, []).append(ns)

    def case(self, number):
        return f"{number} new stacks"

    def events_case(self):
        return f"{self.events} events by {self.numbers[-1]}"

    def results(self):
        return {"ns": self.ns, "peak_kib": self.peak_kib}

    def more(self, case, tool, which="own"):
        """ns more than natively for each stack or event; None: not measured."""
        by = self.ns.get(case, {})
        if which not in by.get(tool, {}):
            return None
        return summary(by[tool][which])["min"] - summary(by["native"][which])["min"]

    def tables(self):
        others = [tool.name for tool in self.tools[1:]]
        yield f"Distinct stacks of {DEPTH} functions: ns of CPU for each natively, and what the tools add (least); in brackets, of all processes"
        yield table(["blocks", "native"] + [f"{name} adds" for name in others] + ["largest process, MiB"],
                    [[case, text(summary(by["native"]["own"])["min"], 0)] + [self.cell(case, name) for name in others] +
                     [text(ratio(self.peak_kib.get(case), 1024), 0)] for case, by in self.ns.items()])
        for case in self.ns:
            yield verdict(self.more(case, "pmm"), LIMIT_NS, f"ns that pmm adds, {case}", 0)
        few, many = (self.more(self.case(n), "pmm") for n in (self.numbers[0], self.numbers[-1]))
        yield verdict(ratio(many, few), FLAT, f"what pmm adds, {self.numbers[-1]} stacks over {self.numbers[0]}")

    def cell(self, case, tool):
        own, every = self.more(case, tool), self.more(case, tool, "all")
        return "-" if own is None else f"{own:.0f}" if every is None else f"{own:.0f} ({every:.0f})"
