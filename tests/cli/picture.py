#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""picture.py PID [loose|steady]: what attaching to a process must leave as it was, a line each.

Code bytes, mappings, descriptors, limits, signal masks and handlers, threads with their states and registers. "loose"
leaves out what the program itself changes while it works: data mappings, stacks, registers; "steady" registers and stacks only.
"""

import hashlib
import os
import re
import sys

pid = sys.argv[1]
loose = sys.argv[2:] == ["loose"]
steady = sys.argv[2:] == ["steady"]
proc = f"/proc/{pid}"


def read(name):
    with open(f"{proc}/{name}") as f:
        return f.read()


with open(f"{proc}/mem", "rb", 0) as mem:
    for line in read("maps").splitlines():
        span, access, _, _, _, *path = line.split(None, 5)
        start, end = (int(x, 16) for x in span.split("-"))
        if access[2] == "x" and path != ["[vsyscall]"]:
            mem.seek(start)
            code = b"".join(iter(lambda: mem.read(min(1 << 20, end - mem.tell())), b""))
            if path or any(code):  # a monitor that is killed may leave an empty page
                print("code", span, path, len(code), hashlib.sha1(code).hexdigest())
        elif not loose and not (steady and path[:1] in (["[heap]"], ["[stack]"])):
            print("map", line)

for fd in sorted(os.listdir(f"{proc}/fd"), key=int):
    print("fd", fd, os.readlink(f"{proc}/fd/{fd}"))
print(read("limits"))
for line in read("status").splitlines():
    if re.match("Threads|TracerPid|Seccomp|Sig(Blk|Ign|Cgt)|CapEff|Uid" + ("" if loose else "|S[ih][gd]Pnd"), line):
        print(line)
for tid in sorted(os.listdir(f"{proc}/task"), key=int):
    status = read(f"task/{tid}/status")
    state = re.search(r"State:\s*(\w)", status)[1]
    print("thread", tid, "stopped" if state in "tT" else "runs", re.search(r"SigBlk:\s*(\w+)", status)[1])
    if not loose and not steady:
        print("registers", tid, state, read(f"task/{tid}/syscall").strip())
