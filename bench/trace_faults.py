# SPDX-License-Identifier: GPL-2.0-or-later
"""The part "trace_faults": what a page fault costs under `pmm trace faults`, beside bpftrace where it starts."""

import json
import os
import re
import shutil
import subprocess
import sys

from figures import table, text, verdict

FAULTS = 100000
FILE_MIB = 64    # in the page cache
LOSS_FAULTS = 300000
COUNTED_NS, STACK_NS = 300, 2500    # added to a fault at most
BPFTRACE = {"bpftrace, counted": "@ = count();", "bpftrace, stacks": "@[ustack(30)] = count();"}


def pmm_tools(pmm):
    """Counted only; each with 8 KiB of its stack; as a user gets it."""
    trace = [pmm, "trace", "faults", "--summary", "--quiet"]
    return {"counted": [*trace, "--stack-size", "0", "--sample", "65536", "--"],
            "8 KiB stacks": [*trace, "--stack-size", "8K", "--sample", "1", "--"],
            "default": [*trace, "--"]}


class TraceFaults:
    name = "trace_faults"

    def __init__(self, bench, smoke=False):
        self.bench = bench
        self.faults = 5000 if smoke else FAULTS
        self.losses = 10000 if smoke else LOSS_FAULTS
        self.file = f"{bench.directory}/faults"
        with open(self.file, "wb") as file:
            file.write(os.urandom(FILE_MIB << 20))
        self.tools = {"bare": []}
        self.ns, self.lost = {}, []
        for name, command in pmm_tools(f"{bench.build}/pmm").items():
            self.add(name, command)
        for name, action in BPFTRACE.items():
            self.add(name, ["bpftrace", "-e", f"software:page-faults:1 /comm == \"bench_faults\"/ {{ {action} }}", "-c"])

    def add(self, name, command):
        """Unless it does not start here."""
        why = None if shutil.which(command[0]) else f"{command[0]} is not installed"
        if not why:
            done = subprocess.run([*command, "/bin/true"], capture_output=True, text=True, timeout=60, check=False)
            why = (done.stderr.strip().splitlines() or ["it said nothing"])[0] if done.returncode else None
        if why:
            print(f"bench: no {name}: {why}", file=sys.stderr, flush=True)
        else:
            self.tools[name] = command

    def jobs(self):
        for kind in ("anonymous", "file"):
            for tool in self.tools:
                yield f"page faults, {kind}, {tool}", lambda k=kind, t=tool: self.measure(k, t)
        if "default" in self.tools:
            yield f"{self.losses} page faults, lost ones", self.measure_loss

    def victim(self, kind):
        return [self.bench.program("bench_faults"), kind, str(self.faults), self.file]

    def measure(self, kind, tool):
        command, argv = self.tools[tool], self.victim(kind)
        if command and command[-1] == "-c":
            argv = [" ".join(argv)]
        said = subprocess.run([*command, *argv], capture_output=True, text=True, timeout=300, check=True).stdout
        ns = re.search(r"^(\d+\.\d)$", said, re.M)
        self.ns.setdefault(kind, {}).setdefault(tool, []).append(float(ns.group(1)))

    def measure_loss(self):
        said = subprocess.run([f"{self.bench.build}/pmm", "trace", "faults", "--json", "--summary", "--", self.bench.program("bench_faults"),
                               "anonymous", str(self.losses)], capture_output=True, text=True, timeout=300, check=True).stdout
        result = json.loads(said.splitlines()[-1])
        coverage = result["coverage"]
        counted = sum(row["faults"] for row in result["fault_memory"])
        self.lost.append(coverage["lost_in_ring"] + coverage["lost_in_tables"] + max(0, self.losses // 1024 * 1024 - counted))

    def results(self):
        return {"ns": self.ns, "lost": self.lost, "faults": self.losses}

    def added(self, kind, tool):
        by = self.ns.get(kind, {})
        return min(by[tool]) - min(by["bare"]) if by.get(tool) and by.get("bare") else None

    def tables(self):
        yield "Page faults: CPU ns of one, natively, and added (least of all rounds)"
        names = list(self.tools)[1:]
        yield table(["memory", "bare", *names],
                    [[kind, text(min(by["bare"]), 0), *(text(self.added(kind, tool), 0) for tool in names)] for kind, by in self.ns.items()])
        yield verdict(self.added("file", "counted"), COUNTED_NS, "ns added to a fault of a file that is counted", 0)
        yield verdict(self.added("anonymous", "counted"), COUNTED_NS, "ns added to an anonymous one", 0)
        yield verdict(self.added("file", "8 KiB stacks"), STACK_NS, "ns added with 8 KiB of stack each time", 0)
        yield verdict(max(self.lost, default=None), 0, f"lost of {self.losses} at the default ring", 0)
