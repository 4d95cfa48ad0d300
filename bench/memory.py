# SPDX-License-Identifier: GPL-2.0-or-later
"""The part "memory": what tools add to the peak of real programs and of a heap of many small blocks, in all and for each block that is live then."""

import glob
import json
import os
import subprocess

from figures import geomean, ratio, table, text, verdict
from measure import peak_memory

NO_WORSE = 1.02    # than another build; a peak that is sampled varies by that


class Memory:
    name = "memory"

    def __init__(self, bench, programs):
        self.bench, self.programs = bench, programs
        self.tools = bench.choose("native", "pmm", "heaptrack")
        self.blocks = [max(1000, int(n * bench.size)) for n in (1000000, 10000000)]
        self.kib, self.pss_kib, self.live = {}, {}, {}    # of each program; the last: blocks at the peak of the live heap

    def jobs(self):
        for program in self.programs:
            for tool in self.tools:
                yield f"memory of {program.name}, {tool.name}", lambda p=program, t=tool: self.measure(
                    p.name, p.argv, t, environment=p.environment, drive=p.drive)
        hold = f"{self.bench.directory}/live"
        for blocks in self.blocks:
            argv = [self.bench.program("bench_micro"), "live", str(blocks), "1", hold]
            for tool in self.tools:
                yield f"memory of {blocks} blocks, {tool.name}", lambda b=blocks, a=argv, t=tool: self.measure(
                    f"{b} blocks of 48 bytes", a, t, hold=hold)

    def measure(self, name, argv, tool, **how):
        peak, _ = self.bench.go(tool, argv, peak_memory, **how)
        self.kib.setdefault(name, {}).setdefault(tool.name, []).append(peak.kib)
        self.pss_kib.setdefault(name, {}).setdefault(tool.name, []).append(peak.pss_kib)
        if tool.name == "pmm" and name not in self.live:
            self.live[name] = self.live_at_peak()

    def live_at_peak(self):
        """Blocks, of the capture that the run left; of several the largest one."""
        capture = max(glob.glob(f"{self.bench.captures()}/*.pmm"), key=os.path.getsize)
        said = subprocess.run([f"{self.bench.build}/pmm", "report", "--json", "--no-symbols", "--top", "1", capture], check=True, capture_output=True)
        return json.loads(said.stdout)["totals"]["peak_accounted_blocks"]

    def results(self):
        return {"peak_kib": self.kib, "peak_pss_kib": self.pss_kib, "blocks_at_peak": self.live}

    def added(self, by, tool):
        """Of the highest peaks of all rounds: one that lasts shortly is not seen each time."""
        return max(max(by[tool]) - max(by["native"]), 1) if tool in by else None

    def tables(self):
        compared = self.bench.base is not None
        yield "Memory: peak of the tree natively, and what the tools add to it (MiB)"
        yield table(["program", "native", "pmm adds", "PSS", "heaptrack adds", "pmm / heaptrack", "live blocks", "bytes a block"] +
                    (["base adds", "pmm / base"] if compared else []), [self.row(name, compared) for name in self.kib])
        beside = [self.against(name, "heaptrack") for name in self.kib]
        yield verdict(geomean(beside), 1 / 2, "added memory, pmm / heaptrack, geometric mean")
        yield verdict(max((r for r in beside if r), default=None), 1 / 2, "the worst of them")
        if compared:
            before = [self.against(name, "base") for name in self.kib]
            yield verdict(geomean(before), NO_WORSE, "added memory, pmm / base, geometric mean")
            yield verdict(max(before), NO_WORSE, "the worst of them")

    def against(self, name, tool):
        return ratio(self.added(self.kib[name], "pmm"), self.added(self.kib[name], tool))

    def row(self, name, compared):
        by, pmm, pss = self.kib[name], self.added(self.kib[name], "pmm"), self.added(self.pss_kib[name], "pmm")
        if pss < pmm:
            pss = None    # it has all that `pmm` has: its peak was too short to be seen
        cells = [name] + [text(ratio(kib, 1024), 1) for kib in (max(by["native"]), pmm, pss, self.added(by, "heaptrack"))]
        cells += [text(self.against(name, "heaptrack")), str(self.live[name]), text(ratio(pmm * 1024, self.live[name]), 1)]
        return cells + ([text(ratio(self.added(by, "base"), 1024), 1), text(self.against(name, "base"), 3)] if compared else [])
