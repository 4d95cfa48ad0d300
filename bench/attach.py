# SPDX-License-Identifier: GPL-2.0-or-later
"""The part "attach": what `pmm attach` costs a process that runs already, beside `pmm run` and beside uprobes."""

import json
import os
import subprocess
import sys
import time
from statistics import median

from figures import geomean, ratio, summary, table, text, verdict
from measure import read, start
from tools import fresh_directory
from watchers import Refused, bpftrace, memleak, pmm_attach

PAIRS = {"random": 3000000, "hot": 6000000}
UPROBE_PAIRS = 150000    # they take some hundred times as long
HEAP_MIB, THREADS, BUSY = 4096, 100, 8
WATCHED_SECONDS = 0.3
TRIES = 3    # to attach to a program before it has ended


class Victim:
    """A program of ours that says "ready" and waits for a line, or for the end of its input."""

    def __init__(self, argv):
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        stderr=subprocess.DEVNULL)
        if self.process.stdout.readline() != "ready\n":
            raise RuntimeError(f"{argv[0]} did not start")

    def finish(self):
        """Let it go on to its end; what it says then."""
        said, _ = self.process.communicate("\n", timeout=600)
        if self.process.returncode:
            raise RuntimeError(f"a victim ended with status {self.process.returncode}")
        return said


class Attach:
    name = "attach"

    def __init__(self, bench, programs, smoke=False):
        self.bench, self.programs = bench, programs
        self.pmm = f"{bench.build}/pmm"
        self.cases = [("hot", 15)] if smoke else [(kind, depth) for kind in PAIRS for depth in (1, 15)]
        self.ns, self.pauses, self.cpu, self.own_cpu = {}, [], {}, {}
        self.heap_mib = self.heap(64 if smoke else HEAP_MIB)
        self.times = 2 if smoke else 10
        self.sampled = [pmm_attach(self.pmm, "--sample", name="attach sampled"),
                        pmm_attach(self.pmm, "--check", name="attach check")]
        self.watchers = [pmm_attach(self.pmm), *self.sampled]
        self.uprobes = [] if smoke else [memleak(bench.directory), bpftrace(bench.directory)]
        self.refused = self.watchers[0].works(bench.directory)
        self.uprobes = [u for u in self.uprobes if self.try_it(u)]

    def try_it(self, watcher):
        why = watcher.works(self.bench.directory)
        if why:
            print(f"bench: no {watcher.name}: {why}", file=sys.stderr, flush=True)
        return not why

    @staticmethod
    def heap(wanted_mib):
        """As much as leaves half of the memory that is available."""
        for line in read("/proc/meminfo").splitlines():
            if line.startswith("MemAvailable:"):
                return min(wanted_mib, int(line.split()[1]) // 2048)
        return min(wanted_mib, 256)

    def jobs(self):
        if self.refused:
            print(f"bench: cannot attach: {self.refused}", file=sys.stderr, flush=True)
            return
        for case in self.cases:
            for tool in self.bench.tools:
                if tool.name not in ("heaptrack", "liblsan"):
                    yield "attach: {} depth {}, {}".format(*case, tool.name), lambda c=case, t=tool: self.pairs(c, tool=t)
            for watcher in self.watchers + self.uprobes:
                yield "attach: {} depth {}, {}".format(*case, watcher.name), \
                    lambda c=case, w=watcher: self.pairs(c, watcher=w)
        yield "attach: pauses", self.pause
        for program in self.programs:
            for watcher in (None, *self.sampled):
                yield f"attach: {program.name}, {watcher.name if watcher else 'native'}", \
                    lambda p=program, w=watcher: self.program(p, w)

    def pairs(self, case, tool=None, watcher=None):
        """ns of the program's own CPU a pair; it starts only when the watcher is there."""
        kind, depth = case
        pairs = max(1000, int((UPROBE_PAIRS if watcher in self.uprobes else PAIRS[kind]) * self.bench.size))
        argv = [self.bench.program("bench_micro"), kind, "1", str(depth), str(pairs), "wait"]
        out = fresh_directory(self.bench.directory, "captures")
        victim = Victim(tool.wrap(argv, out) if tool else argv)
        running = watcher.attach(victim.process.pid, f"{out}/log") if watcher else None
        took = int(victim.finish())
        if running:
            watcher.leave(running)
        self.ns.setdefault(f"{kind} {depth}", {}).setdefault((tool or watcher).name, []).append(took / pairs)

    def pause(self):
        """Attach to the same large process again and again; what pmm says itself."""
        victim = Victim([self.bench.program("bench_crowd"), str(THREADS), str(BUSY), str(self.heap_mib)])
        for _ in range(self.times):
            done = subprocess.run([self.pmm, "attach", "--json", "-d", str(WATCHED_SECONDS), str(victim.process.pid)],
                                  capture_output=True, text=True, timeout=120)
            said = {line["event"]: line for line in map(json.loads, done.stdout.splitlines())}
            if "detached" not in said:
                raise RuntimeError(f"pmm attach failed: {done.stderr}")
            self.pauses.append({"prepare_ns": said["attached"]["prepare_ns"], "attach_ns": said["attached"]["pause_ns"],
                                "detach_ns": said["detached"]["pause_ns"]})
        victim.finish()

    def program(self, program, watcher):
        """
        CPU of a real program, and of pmm, attached as soon as the program has its C library. A short program may have ended
        before: then it is run again.
        """
        out = fresh_directory(self.bench.directory, "captures")
        for _ in range(TRIES):
            pid = start(program.argv, program.environment, f"{out}/log")
            own = self.watch(pid, watcher, f"{out}/watch") if watcher else None
            if program.drive:
                program.drive()
            cpu = [self.reap(pid), self.reap(own.pid) if own else 0]
            if own or not watcher:
                break
        else:
            return
        if own:
            own.returncode = 0    # reaped here
        self.cpu.setdefault(program.name, {}).setdefault(watcher.name if watcher else "native", []).append(sum(cpu))
        if own:
            self.own_cpu.setdefault(program.name, {}).setdefault(watcher.name, []).append(cpu[1])

    @staticmethod
    def reap(pid):
        _, status, used = os.wait4(pid, 0)
        if os.waitstatus_to_exitcode(status) not in (0, 1):
            raise RuntimeError(f"process {pid} ended with status {os.waitstatus_to_exitcode(status)}")
        return used.ru_utime + used.ru_stime

    @staticmethod
    def watch(pid, watcher, log):
        """None: it does not watch this program, or the program has ended and has no mappings any more."""
        end = time.monotonic() + 5
        while (maps := read(f"/proc/{pid}/maps")):
            if "libc.so" in maps:
                try:
                    return watcher.attach(pid, log)
                except Refused as why:    # the loader is still at it
                    if time.monotonic() > end:
                        print(f"bench: {watcher.name}: {why}", file=sys.stderr, flush=True)
                        return None
            time.sleep(0.002)
        return None

    def results(self):
        return {"refused": self.refused, "ns_per_pair": self.ns, "pauses": self.pauses, "heap_mib": self.heap_mib,
                "cpu_seconds": self.cpu, "pmm_cpu_seconds": self.own_cpu}

    def tables(self):
        if self.refused:
            yield f"Attaching: not measured ({self.refused})"
            return
        yield from self.pair_tables()
        yield from self.pause_tables()
        yield from self.program_tables()

    def pair_tables(self):
        times = {case: {name: summary(v) for name, v in by.items()} for case, by in self.ns.items()}
        names = ["pmm", "attach", "sampled", "attach sampled", "attach check"] + [u.name for u in self.uprobes]
        heads = {"pmm": "run adds", "sampled": "run sampled adds"}
        yield "Attached: ns of the program's CPU a malloc+free pair natively, and what is added (least; in brackets the median's)"
        yield table(["workload, depth", "native"] + [heads.get(n, f"{n} adds") for n in names],
                    [[case.replace(" ", ", "), text(t["native"]["min"], 1)] + [self.more(t, n) for n in names]
                     for case, t in times.items()])
        yield verdict(max(t["attach"]["min"] - t["pmm"]["min"] for t in times.values()), 20, "ns, attach less run, the worst", 1)
        yield verdict(max(t["attach sampled"]["min"] - t["sampled"]["min"] for t in times.values()), 20,
                      "the same sampled", 1)
        for uprobe in self.uprobes:
            ratios = [ratio(t[uprobe.name]["min"] - t["native"]["min"], t["attach"]["min"] - t["native"]["min"])
                      for t in times.values()]
            yield f"- {uprobe.name} / attach, added ns, geometric mean: {geomean(ratios):.0f}"

    @staticmethod
    def more(t, name):
        least, middle = (t[name][which] - t["native"][which] for which in ("min", "median"))
        return f"{least:.1f} ({middle:.1f})"

    def pause_tables(self):
        yield f"Pauses: {THREADS} threads, {BUSY} of them busy, {self.heap_mib} MiB touched, {len(self.pauses)} times (ms)"
        kinds = {"prepare_ns": "one thread stopped, to prepare", "attach_ns": "all threads stopped, attach",
                 "detach_ns": "all threads stopped, detach"}
        ms = {kind: [p[kind] / 1e6 for p in self.pauses] for kind in kinds}
        yield table(["", "least", "median", "worst"], [[kinds[k], text(min(v)), text(median(v)), text(max(v))]
                                                   for k, v in ms.items()])
        both = ms["attach_ns"] + ms["detach_ns"]
        yield verdict(median(both), 20, "ms that all threads were stopped, median", 1)
        yield verdict(max(both), 20, "the worst", 1)

    def program_tables(self):
        yield "Real programs: CPU seconds natively and ratio with `pmm attach --sample` and `--check` from the start, pmm's own CPU included"
        rows, ratios = [], {w.name: [] for w in self.sampled}
        for name, by in self.cpu.items():
            t = {tool: summary(v) for tool, v in by.items()}
            rows.append([name, text(t["native"]["min"])])
            for tool, of_all in ratios.items():
                if tool not in t:
                    rows[-1] += ["refused", ""]
                    continue
                each = {which: ratio(t[tool][which], t["native"][which]) for which in ("min", "median")}
                of_all.append(each["min"])
                rows[-1] += [f"{each['min']:.3f} ({each['median']:.3f})", text(min(self.own_cpu[name][tool]), 3)]
        yield table(["program", "native s", "attached, sampled", "pmm's own s", "attached, check", "pmm's own s"], rows)
        for tool, of_all in ratios.items():
            yield verdict(geomean(of_all), 1.02, f"{tool} / native, geometric mean")
