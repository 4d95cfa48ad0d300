# SPDX-License-Identifier: GPL-2.0-or-later
"""
The parts of the benchmark. Each has a `name`, jobs() that are run in turn in every round, and tables from what they
left in `results`, which --json writes as it is.
"""

import glob
import os
import subprocess
from statistics import median

from figures import added, against, geomean, over_native, ratio, summary, table, text, verdict
from measure import read, run
from tools import captured_bytes, fresh_directory


class Bench:
    """What all parts share: where things are and how much is to be done."""

    def __init__(self, build, directory, tools, size, base=None):
        self.build, self.directory, self.tools, self.size = build, directory, tools, size
        self.base = base    # the tool that is pmm of another build, to compare with

    def program(self, name):
        return f"{self.build}/bench/{name}"

    def choose(self, *names):
        """The tools of these names, and the other build's pmm if there is one."""
        return [tool for tool in self.tools if tool.name in names] + ([self.base] if self.base else [])

    def captures(self):
        """Where the last run's captures and its output, `log`, are."""
        return f"{self.directory}/captures"

    def go(self, tool, argv, measurement=run, environment=None, **how):
        """Run argv under a tool; (what `measurement` says, bytes of captures)."""
        out = fresh_directory(self.directory, "captures")
        result = measurement(tool.wrap(argv, out), f"{out}/log", environment={**(environment or {}), **tool.environment}, **how)
        check(result, tool, argv, f"{out}/log")
        return result, captured_bytes(out)


def check(result, tool, argv, log):
    """No figures of a run that failed; heaptrack's script ends well even when its interpreter dies."""
    if getattr(result, "status", 0) or "terminate called" in read(log):
        raise RuntimeError(f"{argv[0]} under {tool.name} failed: {read(log)[-500:]}")


class Programs:
    """CPU and captures of real programs."""
    name = "programs"

    def __init__(self, bench, programs):
        self.bench, self.programs = bench, programs
        self.cpu, self.bytes = {}, {}

    def jobs(self):
        for program in self.programs:
            for tool in self.bench.tools:
                yield f"{program.name}, {tool.name}", lambda p=program, t=tool: self.measure(p, t)

    def measure(self, program, tool):
        try:
            result, size = self.bench.go(tool, program.argv, environment=program.environment, drive=program.drive)
        except RuntimeError:
            if tool.name != "liblsan":    # under which Debian 12's perl and sqlite3 die as they start
                raise
            return
        self.cpu.setdefault(program.name, {}).setdefault(tool.name, []).append(result.cpu)
        self.bytes.setdefault(program.name, {})[tool.name] = size

    def results(self):
        return {"cpu_seconds": self.cpu, "capture_bytes": self.bytes}

    def tables(self):
        times = {name: {tool: summary(v) for tool, v in by.items()} for name, by in self.cpu.items()}
        yield "Real programs: CPU seconds natively, ratios to native (least of all rounds; in brackets the median's)"
        yield table(["program", "native s", "pmm", "sampled", "heaptrack", "liblsan", "added: pmm / heaptrack", "capture KiB",
                     "heaptrack's"], [self.row(name, t) for name, t in times.items()])
        own = {program.name for program in self.programs if program.own}
        every = [t for name, t in times.items() if name not in own]
        ratios = [r for r in map(against, every) if r is not None]
        exact = [over_native(t, "pmm") for t in every]
        yield verdict(geomean(exact), 1.20, "pmm / native, geometric mean over the real programs")
        yield verdict(max(exact, default=None), 1.35, "the worst of them")
        beside = [t for t in every if t.get("liblsan")]
        yield "geometric mean of those that liblsan runs, liblsan and pmm / native: " + \
            " and ".join(text(geomean([over_native(t, tool) for t in beside])) for tool in ("liblsan", "pmm"))
        yield verdict(geomean(ratios), 1 / 8, "added CPU, pmm / heaptrack, geometric mean")
        yield verdict(max(ratios, default=None), 1 / 4, "the worst of them")
        yield verdict(geomean([over_native(t, "sampled") for t in every]), 1.02, "sampled / native, geometric mean")
        for name in sorted(own):
            yield verdict(ratio(over_native(times[name], "pmm"), over_native(times[name], "liblsan")), 1, f"{name}: pmm / liblsan")

    def row(self, name, t):
        def both(of, *args):
            least, middle = of(t, *args), of(t, *args, "median")
            return "-" if least is None else f"{least:.2f} ({middle:.2f})"
        size = self.bytes[name]
        return [name, text(t["native"]["min"])] + [both(over_native, tool) for tool in ("pmm", "sampled", "heaptrack", "liblsan")] + \
            [text(against(t), 3)] + [text(ratio(size.get(tool), 1024), 0) for tool in ("pmm", "heaptrack")]


class Micro:
    """ns of CPU for a malloc and free, of a program that does nothing else."""
    name = "micro"

    cases = tuple((kind, t, d) for kind in ("random", "hot") for d in (1, 15, 40) for t in (1, 2, 8)) + \
        (("temporary", 1, 1), ("temporary", 1, 15), ("changing", 1, 20))
    # case, ns that pmm may add
    limits = {"hot 1 1": 30, "hot 1 40": 70, "random 1 1": 100, "random 1 15": 100, "random 1 40": 100, "temporary 1 1": 25, "temporary 1 15": 25}

    def __init__(self, bench, cases=cases):
        self.bench, self.cases = bench, cases
        self.cpu = {}

    def jobs(self):
        for case in self.cases:
            for tool in self.bench.tools:
                yield "micro {} {} threads, depth {}, {}".format(*case, tool.name), \
                    lambda c=case, t=tool: self.measure(c, t)

    def measure(self, case, tool):
        """CPU without pairs and with them: the difference has neither start nor end in it."""
        kind, threads, depth = case
        pairs = int({"random": 4000000, "changing": 1000000}.get(kind, 8000000) * self.bench.size / (4 if tool.name == "heaptrack" else 1))
        took = self.cpu.setdefault("{} {} {}".format(*case), {}).setdefault(tool.name, {"pairs": pairs, "none": [], "all": []})
        for n, name in ((0, "none"), (pairs, "all")):
            result, _ = self.bench.go(tool, [self.bench.program("bench_micro"), kind, str(threads), str(depth), str(n)])
            took[name].append(result.cpu)

    def results(self):
        return {"cpu_seconds": self.cpu, "ns_per_pair": self.ns()}

    def ns(self):
        """{case: {tool: {min, median}}}: of the least CPU (the median) with and without pairs."""
        def per_pair(took):
            none, every = summary(took["none"]), summary(took["all"])
            return {which: (every[which] - none[which]) / took["pairs"] * 1e9 for which in every}
        return {case: {tool: per_pair(took) for tool, took in by.items()} for case, by in self.cpu.items()}

    def tables(self):
        times = self.ns()
        yield "Micro-workloads: ns of CPU a malloc+free pair natively, and what the tools add (least; in brackets the median's)"
        yield table(["workload, threads, depth", "native", "pmm adds", "sampled adds", "heaptrack adds", "liblsan adds", "pmm / heaptrack"],
                    [self.row(case, t) for case, t in times.items()])
        sampled = [self.more(t, "sampled") for t in times.values()]
        yield verdict(max(sampled, default=None), 6, "ns that sampled mode adds, the worst", 1)
        yield verdict(median(sampled) if sampled else None, 6, "their median", 1)
        for case, limit in self.limits.items():
            if case in times:
                yield verdict(self.more(times[case], "pmm"), limit, f"ns that pmm adds, {case}", 1)
        for kind in ("hot", "random"):
            eight, one = times.get(f"{kind} 8 1"), times.get(f"{kind} 1 1")
            if eight and one:
                yield verdict(ratio(self.more(eight, "pmm"), self.more(one, "pmm")), 1, f"what pmm adds with eight threads over that with one, {kind}")
        yield from self.scaling(times)

    def more(self, t, tool, which="min"):
        return t[tool][which] - t["native"][which] if tool in t else None

    def row(self, case, t):
        def both(tool):
            least, middle = self.more(t, tool), self.more(t, tool, "median")
            return "-" if least is None else f"{least:.1f} ({middle:.1f})"
        return [case.replace(" ", ", "), text(t["native"]["min"], 1)] + \
            [both(tool) for tool in ("pmm", "sampled", "heaptrack", "liblsan")] + \
            [text(ratio(self.more(t, "pmm"), self.more(t, "heaptrack")), 3)]

    def scaling(self, times):
        """CPU a pair with several threads over that with one."""
        rows = []
        for case, several in times.items():
            kind, threads, depth = case.split()
            one = times.get(f"{kind} 1 {depth}")
            if threads != "1" and one:
                rows.append([f"{kind}, depth {depth}, {threads} threads"] +
                            [text(ratio(several[t.name]["min"], one[t.name]["min"])) for t in self.bench.tools])
        if rows:
            yield "Several threads: CPU a pair over that with one thread"
            yield table(["workload"] + [t.name for t in self.bench.tools], rows)


class Report:
    """Opening a large capture: made up, and of a real program, whose symbols are looked up the first time."""
    name = "report"

    def __init__(self, bench):
        self.bench = bench
        self.blocks, self.sites = max(1000, int(1000000 * bench.size)), max(50, int(50000 * bench.size))
        self.pmm = f"{bench.build}/pmm"
        self.used = {}

    def make(self):
        made, real = f"{self.bench.directory}/made.pmm", f"{self.bench.directory}/real.pmm"
        recipe = f"generate sites={self.sites} blocks={self.blocks} depth=20 modules=40 points=500"
        subprocess.run([f"{self.bench.build}/tests/fake/mkcapture", "/dev/stdin", made], input=recipe, text=True, check=True)
        subprocess.run([self.pmm, "run", "-q", "-o", real, "--", self.bench.program("bench_micro"), "live",
                        str(self.blocks), str(self.sites)], check=True)
        return {"made up": made, "real": real}

    def jobs(self):
        if not glob.glob(f"{self.bench.directory}/made.pmm"):
            self.captures = self.make()
        for name, path in self.captures.items():
            yield f"report of {name}", lambda n=name, p=path: self.measure(n, p)

    def measure(self, name, path):
        os.environ["XDG_CACHE_HOME"] = fresh_directory(self.bench.directory, "cache")
        for turn in ("first", "again"):
            result = run([self.pmm, "report", path], os.devnull)
            if result.status:
                raise RuntimeError(f"pmm report {path} ended with status {result.status}")
            self.used.setdefault(f"{name}, {turn}", []).append((result.wall, result.cpu, result.rss_kib))

    def results(self):
        return {"wall_cpu_rss_kib": self.used}

    def tables(self):
        least = {name: [min(column) for column in zip(*v)] for name, v in self.used.items()}
        yield f"pmm report: a capture of {self.blocks} live blocks and {self.sites} sites"
        yield table(["capture", "seconds", "CPU seconds", "peak MiB"],
                    [[name, text(wall), text(cpu), text(rss / 1024, 0)] for name, (wall, cpu, rss) in least.items()])
        again = [v for name, v in least.items() if name.endswith("again")]
        yield verdict(max((v[0] for v in again), default=None), 2, "seconds, symbols looked up before", 2)
        yield verdict(max((v[2] / 1024 for v in least.values()), default=None), 300, "MiB, the worst", 0)


class Unwind:
    """The agent's unwinder by itself (bench/bench_unwind.c)."""
    name = "unwind"

    def __init__(self, bench):
        self.bench, self.said = bench, []

    def jobs(self):
        yield "unwind", self.measure

    def measure(self):
        done = subprocess.run([self.bench.program("bench_unwind"), f"{self.bench.build}/libpmm.so"], check=True,
                              capture_output=True, text=True)
        self.said.append(done.stdout)

    def results(self):
        return {"output": self.said}

    def tables(self):
        yield "Unwinder, last round (bench/bench_unwind.c)"
        yield "".join(self.said[-1:]).rstrip()
