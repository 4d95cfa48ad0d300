#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
trace_gdb_compare.py PMM GDB: stacks of `pmm trace --json` beside those that gdb saw at the same events (trace_gdb.py). A line
for each that differs or is not complete; the last one is an object with numbers.

A stack that pmm could not follow to its end, and says so, is equal if it is gdb's as far as it goes. Where gdb's leads into no
file, gdb has lost its way (the program has a library that it does not know of yet): such an event is not compared.
"""

import json
import sys

CALLS = ("mmap", "mprotect", "munmap", "brk", "mremap", "madvise")


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def frames(event):
    return [[f.get("module", ""), int(f["address"], 16)] for f in event.get("stack", []) if not f.get("inlined")]


def pairs(ours, theirs):
    """(pmm's event, gdb's event), in their order: calls one by one; faults by address and instruction, as there are others."""
    calls = iter([e for e in ours if e.get("event") in CALLS])
    faults = iter([e for e in ours if e.get("event") == "fault"])
    for event in theirs:
        if event["what"] == "fault":
            at = hex(event["value"]), hex(event["pc"])
            found = next((e for e in faults if (e["address"], e["instruction"]) == at), None)
        else:
            found = next(calls, None)
            if found and found["event"] != event["what"]:
                sys.exit(f"pmm has {found['event']}, gdb has {event['what']}")
        if not found:
            sys.exit(f"pmm has no {event['what']}, gdb has {json.dumps(event)}")
        if "frames" in event:
            yield found, event


def name(frame):
    return f"{frame[0].rsplit('/', 1)[-1]}+{frame[1]:#x}"


def explain(event, mine, theirs):
    at = next((i for i, (a, b) in enumerate(zip(mine, theirs)) if a != b), min(len(mine), len(theirs)))
    rest = [" ".join(map(name, stack[max(at - 1, 0):at + 2])) or "-" for stack in (mine, theirs)]
    function = [f["function"] for f in event["stack"] if not f.get("inlined") and "function" in f][max(at - 1, 0):at + 1]
    return (f"{event['event']}, {len(mine)} and {len(theirs)} frames, from number {at} ({', '.join(function)}): "
            f"pmm {rest[0]} ({event.get('stack_end')}), gdb {rest[1]}")


def main():
    sums = dict.fromkeys(("events", "equal", "complete", "in_signals", "gdb_lost"), 0)
    leaves, stacks = set(), set()
    for event, seen in pairs(lines(sys.argv[1]), lines(sys.argv[2])):
        mine, theirs, end = frames(event), seen["frames"], event.get("stack_end")
        if any(not frame[0] for frame in theirs):
            sums["gdb_lost"] += 1
            continue
        same = mine == theirs if end is None else mine == theirs[:len(mine)]
        sums["events"] += 1
        sums["equal"] += same
        sums["complete"] += end is None
        sums["in_signals"] += seen["signals"] > 0
        leaves.add(str(theirs[0]))
        stacks.add(str(theirs))
        if not same:
            print(explain(event, mine, theirs))
        elif end:
            print(f"{event['event']}: as gdb's as far as it goes, {len(mine)} of {len(theirs)} frames: {end}")
    print(json.dumps({**sums, "instructions": len(leaves), "stacks": len(stacks)}))


main()
