# SPDX-License-Identifier: GPL-2.0-or-later
"""Bugs in programs that run already: `pmm attach --check`. Many cases in a process, one after the other; a finding is the case's whose functions are in it."""

import json
import os
import signal
import subprocess
import time

from build import program
from levels import case_of

KINDS = {"overrun", "underrun", "use-after-free", "double-free"}
NOT_HERE = {"atexit", "destructor", "static", "fork", "busy"}
BATCH = 30
LIMIT = 60


def suits(case):
    """Bugs that a process survives, as its other blocks are the allocator's, and that are made while it is watched."""
    return case.kind in KINDS and case.flow not in NOT_HERE and 0 < case.size < 30000


def await_reading(pid):
    """Until the program, just started, reads its input: before that its C library may not be mapped yet. proc(5), syscall."""
    end = time.monotonic() + LIMIT
    while not open(f"/proc/{pid}/syscall").read().startswith("0 0x0 "):
        if time.monotonic() > end:
            raise SystemExit("bugs.py: the program does not read its input")
        time.sleep(0.005)


def attach(pmm, pid, folder):
    out = open(f"{folder}/watch", "w+")
    monitor = subprocess.Popen([pmm, "attach", "--check", "--sample=1", "--budget=all", "-o", f"{folder}/capture.pmm", str(pid)],
                               stdout=out, stderr=subprocess.STDOUT, env={**os.environ, "LC_ALL": "C", "DEBUGINFOD_URLS": ""})
    end = time.monotonic() + LIMIT
    while "attached" not in open(f"{folder}/watch").read().lower():
        if monitor.poll() is not None or time.monotonic() > end:
            raise SystemExit(f"bugs.py: pmm attach: {open(f'{folder}/watch').read()[-1000:]}")
        time.sleep(0.02)
    return monitor


def batch(pmm, path, folder, cases, how):
    """Those of the cases that were begun: (number, findings, status), a status where the process died of it."""
    os.makedirs(folder, exist_ok=True)
    with subprocess.Popen([path, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as victim:
        await_reading(victim.pid)
        monitor = attach(pmm, victim.pid, folder)
        done, dead = [], False
        for case in cases:
            victim.stdin.write(f"{case.number} {how}\n")
            victim.stdin.flush()
            done.append(case.number)
            if not victim.stdout.readline():
                dead = True
                break
        if not dead:
            monitor.send_signal(signal.SIGINT)
            monitor.wait(LIMIT)
            victim.stdin.close()
        status = victim.wait(LIMIT)
        monitor.wait(LIMIT)
    shown = subprocess.run([pmm, "check", "--json", "--top", "0", f"{folder}/capture.pmm"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=120)
    findings = {n: [] for n in done}
    for f in json.loads(shown.stdout)["findings"]:
        findings[case_of(f, done) or done[-1]].append(f)
    for n in done:
        yield n, findings[n], (status if dead and n == done[-1] else 0)


def run_attached(pmm, programs, folder, cases, how):
    groups, results = {}, {}
    for case in filter(suits, cases):
        groups.setdefault(program(case), []).append(case)
    for name, group in groups.items():
        while group:
            begun = list(batch(pmm, programs[name], folder, group[:BATCH], how))
            results.update({n: (f, s) for n, f, s in begun})
            group = group[len(begun):]
    return results
