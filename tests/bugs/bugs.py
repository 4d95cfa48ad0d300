#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""bugs.py: programs with one known heap bug each, and their correct twins, under `pmm check`; found must be what expect.py says.

    bugs.py --count 2400 --seed 7 --level light,guard,left,sampled      exit status 1 when something else was found, or of a twin
    bugs.py --case 1234 --seed 7 --level guard                          "case 1234 of seed 7": what it is, its source, what is found of it
    bugs.py --count 2400 --seed 7 --table                               a table for doc/check.md as well
"""

import argparse
import math
import os
import shutil
import sys
import tempfile
from collections import Counter

import peers
from attach import run_attached
from build import build, each_line
from cases import SHARES, cases
from emit import bug
from expect import REASONS, expected
from judge import judge
from levels import LEVELS, run_level

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--seed", default="1")
    p.add_argument("--count", type=int, default=240)
    p.add_argument("--case", type=int, action="append", help="only this one, in detail; may be given again")
    p.add_argument("--kind", default="", help=f"only these: {', '.join(SHARES)}")
    p.add_argument("--level", default="light,guard,left", help=f"of {', '.join(LEVELS)}, attached")
    p.add_argument("--peer", default="", help=f"of {', '.join(peers.PEERS)}")
    p.add_argument("--pmm", default=f"{ROOT}/build/pmm")
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--folder", help="keep programs and reports there")
    p.add_argument("--table", action="store_true")
    p.add_argument("--verbose", action="store_true", help="what was found of each")
    p.add_argument("--list", action="store_true", help="say what the bugs are, run nothing")
    return p.parse_args()


def surprise(case, verdict, exp):
    """What is not as it must be; None: nothing."""
    if verdict.foreign and not (exp.spills or exp.may):
        f = verdict.foreign[0]
        return f"told of something else: {f['type']}, {f['what']}"
    if exp.may:
        return None
    if exp.found and not verdict.found:
        return "missed"
    if exp.found and verdict.wrong:
        return "wrong: " + ", ".join(verdict.wrong)
    if not exp.found and verdict.found:
        return f"found by {verdict.by}, though: {REASONS[exp.reason]}"
    return None


class Sum:
    """Of one level: per kind how many there are, were found, were found but for something wrong, and missed for which reason."""

    def __init__(self):
        self.kinds = {kind: Counter() for kind in SHARES}

    def add(self, case, verdict, exp, status):
        k = self.kinds[case.kind]
        k["all"] += 1
        if verdict.found:
            k["wrong" if verdict.wrong else "found"] += 1
            if verdict.wrong:
                k["wrong: " + exp.reason] += 1
        else:
            k["missed: " + exp.reason] += 1
        k["died"] += status != 0
        k["foreign"] += bool(verdict.foreign)

    def row(self, kind):
        k = self.kinds[kind]
        return f"{k['found']}" + (f" + {k['wrong']}" if k["wrong"] else "")

    def total(self):
        return sum((k for k in self.kinds.values()), Counter())


def as_often(chosen, results):
    """Sampling by bytes: are as many found as the sizes of the blocks make likely, within four standard deviations?"""
    mean = variance = found = 0
    for case in chosen:
        exp = expected(case, "sampled")
        if case.kind not in ("overrun", "underrun", "use-after-free") or not exp.found or case.number not in results:
            continue
        p = 1 - math.exp(-case.size / (256 << 10))
        mean, variance = mean + p, variance + p * (1 - p)
        found += any(f.get("guarded") for f in results[case.number][0])  # not those that the program died of
    fits = abs(found - mean) <= 4 * math.sqrt(variance) + 1
    print(f"sampled-default: {found} found where {mean:.1f} are likely{'' if fits else ', which is too far off'}", flush=True)
    return fits


def print_table(sums, count):
    names = list(sums)
    print(f"\n| | bugs | {' | '.join(names)} |\n|---|---|{'---|' * len(names)}")
    for kind in SHARES:
        n = next(iter(sums.values())).kinds[kind]["all"]
        if n:
            print(f"| {kind} | {n} | " + " | ".join(s.row(kind) for s in sums.values()) + " |")
    print(f"| all | {count} | " + " | ".join(f"{s.total()['found']} + {s.total()['wrong']}" for s in sums.values()) + " |")
    print(f"| false, of {count} twins | | " + " | ".join(str(s.false) for s in sums.values()) + " |")
    for reason, text in [*REASONS.items(), ("", "no reason")]:
        rows = [(s.total()["missed: " + reason], s.total()["wrong: " + reason]) for s in sums.values()]
        if any(m or w for m, w in rows):
            print(f"| {text} | | " + " | ".join(f"{m}" + (f" + {w}" if w else "") for m, w in rows) + " |")


def detail(case, level, findings, status, verdict):
    print(f"{level}: case {case.number}, {case.name()}: status {status}, {'found' if verdict.found else 'missed'} {', '.join(verdict.wrong)}")
    for f in findings:
        print(f"  {f['type']} by {f['by']}: {f['what']}")
        for s in f["frames"]:
            if s["role"] == "program":
                print(f"    {s['stack']}: {s.get('function')}")


def steady(options, level, case, programs, folder, lines):
    """Is it not as it must be when it is run alone, again, either? A machine under load may keep a process from its end."""
    if level == "attached":
        return True
    for turn in range(2):
        findings, status = run_level(options.pmm, lines, programs, LEVELS[level], f"{folder}/again", [case], "bug", 1)[case.number]
        if surprise(case, judge(case, findings), expected(case, level)):
            return True
    return False


def run(options, chosen, programs, folder):
    """All levels; gives the sums and how many surprises there were."""
    lines = each_line(folder)
    sums, bad = {}, 0
    for level in options.level.split(","):
        if level == "attached":
            results, twins = (run_attached(options.pmm, programs, f"{folder}/{level}", chosen, how) for how in ("bug", "twin"))
        else:
            results, twins = (run_level(options.pmm, lines, programs, LEVELS[level], f"{folder}/{level}", chosen, how, options.jobs)
                              for how in ("bug", "twin"))
        s = sums[level] = Sum()
        s.false = 0
        for case in chosen:
            if case.number not in results:
                continue
            findings, status = results[case.number]
            verdict, exp = judge(case, findings, level != "attached"), expected(case, level)
            s.add(case, verdict, exp, status)
            said = surprise(case, verdict, exp)
            if options.case or options.verbose:
                detail(case, level, findings, status, verdict)
            if said:
                again = steady(options, level, case, programs, folder, lines)
                bad += again
                print(f"{level}: {'' if again else 'once, but not again: '}case {case.number} of seed {options.seed}: {said}: {case.name()}", flush=True)
            findings, status = twins[case.number]
            if findings or status:
                bad += 1
                s.false += 1
                print(f"{level}: twin {case.number} of seed {options.seed}: status {status}, "
                      f"{[f['what'] for f in findings]}: {case.name()}", flush=True)
        if level == "sampled-default":
            bad += not as_often(chosen, results)
        t = s.total()
        print(f"{level}: {t['all']} bugs: {t['found']} found, {t['wrong']} found but for a part, "
              f"{t['all'] - t['found'] - t['wrong']} missed; {s.false} of the twins", flush=True)
    return sums, bad


def main():
    options = arguments()
    chosen = cases(options.seed, max([options.count, *(options.case or [])]))
    if options.case:
        chosen = [c for c in chosen if c.number in options.case]
    if options.kind:
        chosen = [c for c in chosen if c.kind in options.kind.split(",")]
    if options.list or options.case:
        for case in chosen:
            print(f"case {case.number} of seed {options.seed}: {case.name()}")
            if options.case:
                print(bug(case))
    if options.list:
        return 0
    folder = options.folder or tempfile.mkdtemp(prefix="bugs.")
    try:
        sums, bad = run(options, chosen, build(chosen, folder, options.jobs), folder) if options.level else ({}, 0)
        for name in filter(None, options.peer.split(",")):
            sums[name] = peers.run(name, chosen, f"{folder}/{name}", options.jobs, Sum())
        if options.table:
            print_table(sums, len(chosen))
    finally:
        if not options.folder:
            shutil.rmtree(folder, ignore_errors=True)
    return int(bad > 0)


sys.exit(main())
