# SPDX-License-Identifier: GPL-2.0-or-later
"""The part "check": what each level of `pmm check` costs real programs, beside Valgrind's memcheck; and a large heap at each level."""

import shutil

from figures import geomean, over_native, summary, table, text, verdict
from measure import peak_kib
from tools import Tool

LIMITS = {"light": 1.5, "guard": 3.5, "sampled": 1.02}
OPTIONS = {"guard-all": ["--level=guard", "--budget=all"]}    # besides the levels: guard pages for all blocks
OF_MEMCHECK = 0.5    # guard-all, of each program
LIVE_BLOCKS = 10000000
MEMCHECK_ROUNDS = 1    # it takes ten to fifty times as long, and that hardly varies


def check_tools(pmm):
    """Natively, each level, memcheck."""
    def level(name):
        options = OPTIONS.get(name, [f"--level={name}"])
        return Tool(name, lambda argv, out: [pmm, "check", *options, "--report", f"{out}/report", "-o", f"{out}/%p.pmm",
                                             "--error-exitcode", "99", "--", *argv])
    tools = [Tool("native", lambda argv, out: argv), *map(level, [*LIMITS, *OPTIONS])]
    if shutil.which("valgrind"):
        tools.append(Tool("memcheck", lambda argv, out: ["valgrind", "-q", "--leak-check=no", "--trace-children=yes", *argv]))
    return tools


class Check:
    name = "check"

    def __init__(self, bench, programs, smoke=False):
        self.bench, self.programs = bench, programs
        self.tools = check_tools(f"{bench.build}/pmm")
        if smoke:
            self.tools = self.tools[:-1]
        self.blocks = max(1000, int(LIVE_BLOCKS * bench.size))
        self.cpu, self.kib = {}, {}

    def jobs(self):
        for program in self.programs:
            for tool in self.tools:
                if tool.name == "memcheck" and len(self.cpu.get(program.name, {}).get(tool.name, [])) >= MEMCHECK_ROUNDS:
                    continue
                yield f"check of {program.name}, {tool.name}", lambda p=program, t=tool: self.measure(p, t)
        for tool in self.tools:
            if tool.name != "memcheck" and not len(self.kib.get(tool.name, [])):
                yield f"check of {self.blocks} live blocks, {tool.name}", lambda t=tool: self.measure_live(t)

    def measure(self, program, tool):
        result, _ = self.bench.go(tool, program.argv, environment=program.environment, drive=program.drive)
        self.cpu.setdefault(program.name, {}).setdefault(tool.name, []).append(result.cpu)

    def measure_live(self, tool):
        hold = f"{self.bench.directory}/live"
        argv = [self.bench.program("bench_micro"), "live", str(self.blocks), "1", hold]
        kib, _ = self.bench.go(tool, argv, peak_kib, hold=hold)
        self.kib.setdefault(tool.name, []).append(kib)

    def results(self):
        return {"cpu_seconds": self.cpu, "peak_kib": self.kib, "live_blocks": self.blocks}

    def tables(self):
        names = [tool.name for tool in self.tools[1:]]
        times = {name: {tool: summary(v) for tool, v in by.items()} for name, by in self.cpu.items()}
        yield "Heap errors: CPU seconds natively, ratios to native (least of all rounds)"
        yield table(["program", "native s", *names],
                    [[name, text(t["native"]["min"])] + [text(over_native(t, tool)) for tool in names] for name, t in times.items()])
        for level, limit in LIMITS.items():
            yield verdict(geomean([over_native(t, level) for t in times.values()]), limit, f"{level} / native, geometric mean")
        if shutil.which("valgrind"):
            worst = max((over_native(t, "guard-all") / over_native(t, "memcheck") for t in times.values() if t.get("memcheck")), default=None)
            yield verdict(worst, OF_MEMCHECK, "guard --budget=all / memcheck, the worst program")
        yield f"memcheck / native, geometric mean: {text(geomean([over_native(t, 'memcheck') for t in times.values()]))}"
        native = min(self.kib.get("native", [0]))
        yield table(["level", f"MiB for {self.blocks} live blocks of 48 bytes", "bytes more a block"],
                    [[name, text(min(kib) / 1024, 1), text((min(kib) - native) * 1024 / self.blocks, 1)]
                     for name, kib in self.kib.items()])
