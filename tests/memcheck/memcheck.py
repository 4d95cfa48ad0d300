#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""memcheck.py: real programs whose leaks memcheck and `pmm leaks` must find the same, to the byte, or the reason is known.

    memcheck.py [--pmm FILE] [--keep DIRECTORY] [--json FILE] [PROGRAM...]

Runs each program (programs.py) once under each of them, in the same conditions (tools.py), and prints what each found in each process: bytes in
blocks, by class. Below a row that differs: the call sites that do, and why (reasons.py). Exit code: 1 when something differs and no reason
is known, 3 when a program could not be had, else 0.
"""

import argparse
import json
import os
import subprocess
import sys

from programs import PROGRAMS, Trouble
from reasons import REASONS, differences
from tools import CLASSES, run_both, tools

HEAD = "| program | process | by | " + " | ".join(CLASSES) + " | |\n|---|---|---|" + "--:|" * len(CLASSES) + "---|"


def cells(process):
    return [f"{b:,} in {n:,}" if n else "0" for b, n in map(process.total, CLASSES)]


def show(name, nth, memcheck, pmm, found):
    what = "the same" if not found else "; ".join(sorted({d.reason or "**not known**" for d in found}))
    process = f"{memcheck.name}{', forked' if memcheck.forked else ''}{f' {nth}' if nth else ''}"
    print("| " + " | ".join([name, process, "memcheck", *cells(memcheck), what]) + " |")
    print("| " + " | ".join(["", "", "pmm", *cells(pmm), ""]) + " |", flush=True)


def pairs(name, memcheck, pmm):
    if [(p.name, p.forked) for p in memcheck] != [(p.name, p.forked) for p in pmm]:
        raise Trouble(f"{name}: the processes are not the same: {[p.name for p in memcheck]} under memcheck, {[p.name for p in pmm]} under pmm")
    return zip(memcheck, pmm)


def one(name, both, args):
    """Print a program's rows; what differs, by process."""
    memcheck, pmm = run_both(both, name, args.keep)
    out, seen = [], {}
    for m, p in pairs(name, memcheck, pmm):
        parent = next((q for q in memcheck if q.pid == m.parent), None) if m.forked else None
        found = differences(name, m, p, parent)
        seen[m.name, m.forked] = seen.get((m.name, m.forked), 0) + 1
        show(name, seen[m.name, m.forked] if m.forked else 0, m, p, found)
        out.append({"program": name, "process": m.name, "forked": m.forked, "memcheck": {c: m.total(c) for c in CLASSES},
                    "pmm": {c: p.total(c) for c in CLASSES},
                    "differences": [{"reason": d.reason, "frames": d.frames, "memcheck": d.memcheck, "pmm": d.pmm} for d in found]})
    return out


def details(rows):
    """Each call site that differs, and the reasons in words."""
    used = []
    for row in rows:
        for d in row["differences"]:
            used.append(d["reason"])
            print(f"{row['program']}, {row['process']}: {' < '.join(f or file for file, f in d['frames'][:5])}")
            print(f"    memcheck {d['memcheck']}, pmm {d['pmm']}: {d['reason'] or 'reason not known'}")
    for reason, words in REASONS.items():
        if reason in used:
            print(f"{reason}: {words}")


def versions(pmm):
    for command in (["valgrind", "--version"], [pmm, "--version"]):
        print(subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip().split("\n")[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pmm", default=os.path.join(os.path.dirname(__file__), "../../build/pmm"))
    parser.add_argument("--keep", help="leave what the programs and tools wrote in this directory")
    parser.add_argument("--json", help="write the rows there too")
    parser.add_argument("programs", nargs="*", choices=[[], *PROGRAMS], metavar="PROGRAM")
    args = parser.parse_args()
    args.pmm, args.keep = os.path.abspath(args.pmm), args.keep and os.path.abspath(args.keep)
    rows, trouble = [], False
    try:
        both = tools(args.pmm)
    except (Trouble, OSError, subprocess.SubprocessError) as e:
        print(e, file=sys.stderr)
        return 3
    versions(args.pmm)
    print(HEAD)
    for name in args.programs or PROGRAMS:
        try:
            rows += one(name, both, args)
        except (Trouble, OSError, subprocess.SubprocessError) as e:
            print(f"| {name} | {e} |")
            trouble = True
    print()
    details(rows)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as f:
            f.write(json.dumps(rows, indent=1) + "\n")
    return 1 if any(not d["reason"] for r in rows for d in r["differences"]) else 3 if trouble else 0


if __name__ == "__main__":
    sys.exit(main())
