# SPDX-License-Identifier: GPL-2.0-or-later
"""
The part "trace_calls": what system calls and kernel allocations cost under `pmm trace`, beside bpftrace and bpfcc's memleak where
they start; what pmm itself takes: processor time, memory, time to start and to end; what is lost.
"""

import glob
import json
import os
import re
import subprocess
import sys
import time
from statistics import median

from figures import table, text, verdict
from watchers import kernel_headers

CALLS = {"map": 100000, "getppid": 400000, "pipe": 100000}
RATE_SECONDS, PER_SECOND = 8, 10000    # records
LOSS_CALLS = 150000    # pairs
TARGETS = (("map", "records", 1000, "ns added to mmap and munmap, two records"),
           ("getppid", "records", 100, "ns added to a call that is not watched"))
PIPE_PERCENT, CPU_PERCENT, SECONDS, MIB = 50, 2, 1, 30
# tracefs is seen by bpftrace and bcc alone
MOUNT = ["unshare", "--mount", "sh", "-c", "mount -t debugfs none /sys/kernel/debug && mount -t tracefs none /sys/kernel/tracing; exec \"$@\"", "-"]
MINE = "/comm == \"bench_calls\"/"
BPFTRACE = {
    "bpftrace, lines": " ".join(f"tracepoint:syscalls:sys_exit_{call} {MINE} {{ printf(\"%d %s {call} %lx\\n\", pid, comm, args->ret); }}"
                                for call in ("mmap", "munmap")),
    "bpftrace, stacks": " ".join(f"tracepoint:syscalls:sys_exit_{call} {MINE} {{ @[ustack(30)] = count(); }}" for call in ("mmap", "munmap")),
    "bpftrace, outstanding": " ".join(
        [f"tracepoint:kmem:{name} {MINE} {{ @[args->ptr] = kstack; }}" for name in ("kmalloc", "kmem_cache_alloc")] +
        [f"tracepoint:kmem:{name} {{ delete(@[args->ptr]); }}" for name in ("kfree", "kmem_cache_free")] + ["END { clear(@); }"])}


class TraceCalls:
    name = "trace_calls"

    def __init__(self, bench, smoke=False):
        self.bench, self.smoke = bench, smoke
        self.pmm = f"{bench.build}/pmm"
        self.commands = {"map": self.calls("bpftrace, lines", "bpftrace, stacks"), "getppid": self.calls("bpftrace, lines"),
                         "pipe": {"bare": [], "1 in 16": self.trace("kernel"), "all": self.trace("kernel", "--sample", "1"),
                                  **self.bpftrace("bpftrace, outstanding")}}
        self.works = self.try_out()
        self.headers = kernel_headers(bench.directory)
        self.ns, self.own, self.lost, self.whole = {}, [], [], {}
        self.refused = set()

    def try_out(self):
        done = subprocess.run([*self.trace("mmap"), "true"], capture_output=True, text=True, timeout=60, check=False)
        if done.returncode:
            print(f"bench: no trace_calls: {(done.stderr.splitlines() or ['pmm said nothing'])[0]}", file=sys.stderr, flush=True)
        return not done.returncode

    def trace(self, events, *options):
        return [self.pmm, "trace", events, "--summary", "--quiet", *options, "--"]

    def bpftrace(self, *names):
        return {} if self.smoke else {name: [*MOUNT, "bpftrace", "-e", BPFTRACE[name], "-c"] for name in names}

    def calls(self, *names):
        return {"bare": [], "records": self.trace("mmap", "--stack-size", "0"), "default": self.trace("mmap"), **self.bpftrace(*names)}

    def jobs(self):
        if not self.works:
            return
        for kind, commands in self.commands.items():
            for tool in commands:
                yield f"{kind}, {tool}", lambda k=kind, t=tool: self.measure(k, t)
        if not self.smoke:
            yield "pipe, memleak of bpfcc", self.measure_memleak
        yield "pmm's own time and memory", self.measure_own
        yield "records lost", self.measure_loss
        for events in ("mmap", "default"):
            yield f"start and end, {events}", lambda e=events: self.measure_whole(e)

    def victim(self, kind):
        return [self.bench.program("bench_calls"), kind, str(CALLS[kind] // (50 if self.smoke else 1))]

    def measure(self, kind, tool):
        command, argv = self.commands[kind][tool], self.victim(kind)
        if (kind, tool) in self.refused:
            return
        if command and command[-1] == "-c":
            argv = [" ".join(argv)]
        with open("said", "w+", encoding="utf-8", errors="replace") as out:
            done = subprocess.run([*command, *argv], stdout=out, stderr=subprocess.PIPE, text=True, timeout=300, check=False)
            out.seek(0)
            ns = next((line for line in out if re.fullmatch(r"\d+\.\d\n", line)), None)
        if ns:
            self.ns.setdefault(kind, {}).setdefault(tool, []).append(float(ns))
        elif "bpftrace" in tool:
            self.refused.add((kind, tool))
            print(f"bench: no {tool}: {(done.stderr.strip() or 'it said nothing').splitlines()[-1]}", file=sys.stderr, flush=True)
        else:
            sys.exit(f"bench: {tool} of {kind}: {done.stderr}")

    def measure_memleak(self):
        """It watches the whole kernel; one allocation in 16, as pmm."""
        if "memleak" in self.refused or not glob.glob("/usr/sbin/memleak-bpfcc"):
            return
        with open("memleak", "w+", encoding="utf-8", errors="replace") as out, \
             subprocess.Popen([*MOUNT, "memleak-bpfcc", "-s", "16", "2"], env={**os.environ, **self.headers}, stdout=out, stderr=out) as tool:
            until = time.monotonic() + 60
            while tool.poll() is None and time.monotonic() < until:
                with open("memleak", encoding="utf-8", errors="replace") as said:
                    if "] Top 10 stacks" in said.read():
                        break
                time.sleep(0.2)
            if tool.poll() is None:
                ns = subprocess.run(self.victim("pipe"), capture_output=True, text=True, timeout=300, check=True).stdout
                self.ns["pipe"].setdefault("memleak of bpfcc, 1 in 16", []).append(float(ns))
                tool.kill()
            else:
                self.refused.add("memleak")
                print("bench: no memleak of bpfcc: it does not start here", file=sys.stderr, flush=True)

    def own_ns(self, pid):
        total = 0
        for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
            with open(path, encoding="utf-8") as file:
                total += int(file.read().split()[0])
        return total

    def measure_own(self):
        """While a program makes 10,000 records a second, with stacks; beginning and end are not in it."""
        seconds = 2 if self.smoke else RATE_SECONDS
        argv = [self.bench.program("bench_calls"), "rate", str(PER_SECOND // 2 * (seconds + 3))]
        with subprocess.Popen([*self.trace("mmap", "--json"), *argv], stdout=subprocess.PIPE, text=True) as tracer:
            time.sleep(1.5)
            at, before = time.monotonic(), self.own_ns(tracer.pid)
            time.sleep(seconds)
            used, passed = self.own_ns(tracer.pid) - before, time.monotonic() - at
            with open(f"/proc/{tracer.pid}/status", encoding="utf-8") as file:
                peak = int(re.search(r"VmHWM:\s+(\d+)", file.read()).group(1))
            coverage = json.loads(tracer.communicate(timeout=60)[0].splitlines()[-1])["coverage"]
        rate = coverage["seen"] / coverage["duration_ns"] * 1e9
        self.own.append({"percent": used / passed / 1e7, "peak_kib": peak, "records_a_second": rate,
                         "lost": coverage["lost_in_ring"], "complete": coverage["complete_stacks"] / coverage["stacks"]})

    def measure_loss(self):
        done = subprocess.run([*self.trace("mmap", "--json"), self.bench.program("bench_calls"), "map", str(LOSS_CALLS // (10 if self.smoke else 1))],
                              capture_output=True, text=True, timeout=300, check=True)
        coverage = json.loads(done.stdout.splitlines()[-1])["coverage"]
        self.lost.append(coverage["lost_in_ring"] + coverage["lost_in_tables"] + coverage["missed_by_recursion"])

    def measure_whole(self, events):
        before = time.monotonic()
        subprocess.run([*self.trace(events), "true"], capture_output=True, timeout=60, check=True)
        self.whole.setdefault(events, []).append(time.monotonic() - before)

    def results(self):
        return {"ns": self.ns, "own": self.own, "lost": self.lost, "whole": self.whole}

    def added(self, kind, tool, which=min):
        by = self.ns.get(kind, {})
        return which(by[tool]) - which(by["bare"]) if by.get(tool) and by.get("bare") else None

    def tables(self):
        yield "System calls and kernel allocations: CPU ns of one, natively, and added (least of all rounds; in brackets of medians)"
        rows = [[kind, tool, text(min(by["bare"]), 0), f"{text(self.added(kind, tool), 0)} ({text(self.added(kind, tool, median), 0)})"]
                for kind, by in self.ns.items() for tool in by if tool != "bare"]
        yield table(["call", "tool", "bare", "added"], rows)
        for kind, tool, limit, what in TARGETS:
            yield verdict(self.added(kind, tool), limit, what, 0)
        pipe = self.added("pipe", "1 in 16")
        yield verdict(pipe and 100 * pipe / min(self.ns["pipe"]["bare"]), PIPE_PERCENT, "% added to pipe and two closes, 1 object in 16 followed", 0)
        if self.own:
            yield verdict(min(o["percent"] for o in self.own), CPU_PERCENT,
                          f"% of a processor, pmm itself at {self.own[0]['records_a_second']:.0f} records a second with stacks")
            yield verdict(max(o["peak_kib"] for o in self.own) / 1024, MIB, "MiB resident, at its peak", 1)
            yield verdict(max(o["lost"] for o in self.own), 0, "lost of these", 0)
        yield verdict(max(self.lost, default=None), 0, f"lost of {2 * LOSS_CALLS}, as fast as they come, with stacks", 0)
        for events, seconds in self.whole.items():
            yield verdict(min(seconds), SECONDS, f"s to start and end, {events} (median {median(seconds):.2f})", 2)
