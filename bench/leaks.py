# SPDX-License-Identifier: GPL-2.0-or-later
"""
The part "leaks": searching a heap of ten million small blocks for leaks, by the engine alone, on the running process, and at its end beside
LeakSanitizer (liblsan preloaded) and memcheck. All search the same program (bench/leaks_heap.c), which says what it has lost.
"""

import glob
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import time
from statistics import median

from figures import ratio, summary, table, text, verdict
from tools import fresh_directory, liblsan

BLOCKS = 10000000
MEMCHECK_BLOCKS = 1000000    # memcheck takes some minutes for more; the others search as many for comparison
GB = 1e9


class Program:
    """The program with its heap made, under a tool or natively."""

    def __init__(self, argv, environment=None, log=os.devnull):
        with open(log, "w", encoding="utf-8") as errors:
            self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, stderr=errors,
                                            env={**os.environ, **(environment or {})})
        if self.process.stdout.readline() != "ready\n":
            raise RuntimeError(f"{argv[0]} did not start: {open(log, encoding='utf-8', errors='replace').read()[-500:]}")
        self.made = json.loads(self.process.stdout.readline())

    def fork_ns(self):
        """What a bare fork of it takes."""
        self.process.stdin.write("fork\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def child(self):
        """Under pmm: the program itself."""
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="ascii") as file:
            return file.read().split()[0]

    def finish(self):
        """Let it return from main; (seconds from there to the end of all, status)."""
        self.process.stdin.close()
        if self.process.stdout.readline() != "done\n":
            raise RuntimeError("the program did not come to its end")
        start = time.monotonic()
        self.process.wait()
        return time.monotonic() - start, self.process.returncode


class Tool:
    """A way to search at the end: how the program is run, and what is said to be lost (blocks) of it."""

    def __init__(self, name, wrap, environment=None, found=None, slow=False):
        self.name, self.wrap, self.environment, self.found, self.slow = name, wrap, environment, found, slow


def lost_by_lsan(log, _):
    said = re.search(r"leaked in (\d+) allocation", log)
    return int(said[1]) if said else None


def lost_by_memcheck(log, _):
    said = re.findall(r"(?:definitely|indirectly) lost: .* in ([\d,]+) blocks", log)
    return sum(int(n.replace(",", "")) for n in said) if said else None


class Leaks:
    name = "leaks"

    def __init__(self, bench, smoke=False):
        self.bench, self.pmm = bench, f"{bench.build}/pmm"
        self.blocks = 100000 if smoke else max(100000, int(BLOCKS * bench.size))
        self.few = 20000 if smoke else max(20000, int(MEMCHECK_BLOCKS * bench.size))
        self.processors = len(os.sched_getaffinity(0))
        self.engine, self.live, self.ends, self.wrong = {}, [], {}, []
        self.tools = self.present()

    def lost_by_pmm(self, _, out):
        captures = glob.glob(f"{out}/*.pmm")
        if not captures:
            return None
        said = subprocess.run([self.pmm, "leaks", "--json", "--no-symbols", captures[0]], capture_output=True, text=True).stdout
        return self.lost(json.loads(said)) if said else None

    @staticmethod
    def lost(report):
        return sum(t["blocks"] for t in report["totals"] if t["class"] in ("definite", "indirect"))

    def present(self):
        def run(*options):
            return lambda argv, out: [self.pmm, "run", "-q", *options, "-o", f"{out}/%p.pmm", "--", *argv]
        def memcheck(kind):
            return lambda argv, out: ["valgrind", f"--leak-check={kind}", *argv]
        tools = [Tool("native", lambda argv, out: argv), Tool("pmm run", run())]
        options = subprocess.run([self.pmm, "run", "--help"], capture_output=True, text=True, check=True).stdout
        if "--leaks" in options:
            tools.append(Tool("pmm run --leaks", run("--leaks"), found=self.lost_by_pmm))
        else:
            self.miss("'pmm run --leaks'", "this pmm does not know it")
        if liblsan():
            preload = {"LD_PRELOAD": liblsan()}
            tools += [Tool("liblsan, not searching", lambda argv, out: argv, {**preload, "LSAN_OPTIONS": "detect_leaks=0"}),
                      Tool("liblsan", lambda argv, out: argv, preload, found=lost_by_lsan)]
        else:
            self.miss("liblsan", "package liblsan0 is not installed")
        if shutil.which("valgrind"):
            tools += [Tool("memcheck, not searching", memcheck("no"), slow=True),
                      Tool("memcheck", memcheck("full"), found=lost_by_memcheck, slow=True)]
        else:
            self.miss("memcheck", "valgrind is not installed")
        return tools

    @staticmethod
    def miss(what, why):
        print(f"bench: no {what}: {why}", file=sys.stderr, flush=True)

    def jobs(self):
        for threads in sorted({1, self.processors}):
            yield f"leaks: engine, {threads} threads", lambda t=threads: self.search(t)
        yield "leaks: the running process", self.running
        for tool in self.tools:
            for blocks in sorted({self.few} if tool.slow else {self.few, self.blocks}):
                yield f"leaks: at the end, {blocks} blocks, {tool.name}", lambda t=tool, n=blocks: self.at_end(t, n)

    def search(self, threads):
        said = subprocess.run([self.bench.program("bench_leaks"), str(self.blocks), str(threads), "3"], check=True, text=True,
                              stdout=subprocess.PIPE).stdout
        self.engine.setdefault(threads, []).extend(json.loads(line) for line in said.splitlines())

    def running(self):
        """pmm leaks PID and bare forks of the same process, in turn."""
        out = fresh_directory(self.bench.directory, "captures")
        program = Program([self.pmm, "run", "-q", "-o", f"{out}/%p.pmm", "--", self.bench.program("bench_leaks_heap"), str(self.blocks)])
        for _ in range(3):
            forks = [program.fork_ns()]
            before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
            done = subprocess.run([self.pmm, "leaks", "--json", "--no-symbols", program.child()], capture_output=True, text=True)
            wall = time.monotonic() - start
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            if not done.stdout:
                self.miss("'pmm leaks PID'", done.stderr.strip())
                break
            report = json.loads(done.stdout)
            forks.append(program.fork_ns())
            self.compare("pmm leaks PID", self.lost(report), program.made)
            self.live.append({**report["search"], "fork_ns": median(forks), "wall": wall,
                              "cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime})
        program.finish()

    def at_end(self, tool, blocks):
        out = fresh_directory(self.bench.directory, "captures")
        log = f"{out}/log"
        start = time.monotonic()
        program = Program(tool.wrap([self.bench.program("bench_leaks_heap"), str(blocks)], out), tool.environment, log)
        took, _ = program.finish()
        entry = {"end": took, "wall": time.monotonic() - start}
        if tool.found:
            with open(log, encoding="utf-8", errors="replace") as file:
                entry["lost"] = tool.found(file.read(), out)
            self.compare(f"{tool.name}, {blocks} blocks", entry["lost"], program.made)
        self.ends.setdefault(blocks, {}).setdefault(tool.name, []).append(entry)

    def compare(self, who, lost, made):
        """A stale pointer on the stack may keep one structure; more than ten blocks apart is a wrong answer."""
        wanted = made["definite"][0] + made["indirect"][0]
        if lost is None or abs(lost - wanted) > 10:
            self.wrong.append(f"{who}: {lost} blocks lost, not {wanted}")

    def results(self):
        return {"blocks": self.blocks, "memcheck_blocks": self.few, "engine": self.engine, "live": self.live, "at_end": self.ends,
                "wrong": self.wrong}

    def tables(self):
        yield from self.engine_tables()
        yield from self.live_tables()
        yield from self.end_tables()
        for what in self.wrong:
            yield f"- WRONG: {what}"

    def engine_tables(self):
        best = {threads: min(runs, key=lambda r: r["wall"]) for threads, runs in self.engine.items()}
        mib = self.engine[1][0]["bytes"] / 2 ** 20
        yield f"Search for leaks by itself: {self.blocks} blocks, {mib:.0f} MiB, best of {len(self.engine[1])}"
        yield table(["threads", "seconds", "reading", "following", "GB/s", "GB/s per core", "GB per CPU second", "bytes per block"],
                    [[str(threads), text(r["wall"], 3), text(r["build_ns"] / 1e9, 3), text(r["mark_ns"] / 1e9, 3),
                      text(r["read"] / GB / r["wall"]), text(r["read"] / GB / r["wall"] / threads), text(r["read"] / GB / r["cpu"]),
                      text(r["extra"] / r["blocks"], 1)] for threads, r in best.items()])
        if self.blocks < 1000000:
            return    # what is taken once, whatever the heap, is most of it
        all_of_them = best[max(best)]
        slowness = all_of_them["wall"] * max(best) * GB / all_of_them["read"]
        yield verdict(slowness, 1, "core seconds for a gigabyte, all cores at work", 2)
        yield verdict(max(r["extra"] / r["blocks"] for r in best.values()), 40, "extra bytes per block", 1)

    def live_tables(self):
        if not self.live:
            return
        ms = {"a bare fork": [r["fork_ns"] / 1e6 for r in self.live], "pmm leaks: the pause": [r["pause_ns"] / 1e6 for r in self.live],
              "pmm leaks: the search": [r["took_ns"] / 1e6 for r in self.live],
              "pmm leaks: all": [r["wall"] * 1000 for r in self.live], "pmm leaks: CPU": [r["cpu"] * 1000 for r in self.live]}
        how = ", ".join(sorted({r["how"] for r in self.live}))
        yield f"The running process, {self.blocks} blocks, {len(self.live)} times (ms; searched in: {how})"
        yield table(["", "least", "median", "worst"],
                    [[what, text(min(v), 1), text(median(v), 1), text(max(v), 1)] for what, v in ms.items()])
        yield verdict(median((r["pause_ns"] - r["fork_ns"]) / 1e6 for r in self.live), 5,
                      "ms that the pause is longer than a bare fork, median", 1)

    def end_tables(self):
        for blocks, by in self.ends.items():
            least = {name: {key: summary([r[key] for r in runs])["min"] for key in ("end", "wall")} for name, runs in by.items()}
            searched = least.get("pmm run --leaks", {}).get("end")
            yield f"At the end, {blocks} blocks: seconds from the return of main to the end of all, and of the whole run (least)"
            yield table(["tool", "end", "whole", "end / pmm's", "blocks lost"],
                        [[name, text(t["end"]), text(t["wall"]), text(ratio(t["end"], searched)), str(by[name][-1].get("lost", "-"))]
                         for name, t in least.items()])
            for other in ("liblsan", "memcheck"):
                if searched and other in least:
                    yield verdict(searched / least[other]["end"], 1, f"pmm / {other} at the end", 3)
