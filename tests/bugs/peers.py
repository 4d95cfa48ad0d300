# SPDX-License-Identifier: GPL-2.0-or-later
"""The same bugs under AddressSanitizer and memcheck: found is what they say anything of. A twin must be silent: else the generator is wrong."""

import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

from build import build, program
from judge import Verdict
from expect import FOUND

PEERS = {"asan": "AddressSanitizer", "memcheck": "Valgrind"}
ASAN = {"ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1:symbolize=0", "LC_ALL": "C"}
SAID = {"asan": re.compile(r"(ERROR|WARNING): AddressSanitizer"),
        "memcheck": re.compile(r"Invalid (read|write|free)|Mismatched free|overlap in |fishy|Stack overflow|overflowed|points to unaddressable|uninitialised")}


def asan_one(job):
    path, case, how = job
    try:
        done = subprocess.run([path, str(case.number), how], capture_output=True, timeout=120, env=ASAN, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return case.number, "timeout", ""
    return case.number, done.returncode, done.stderr.decode(errors="replace")


def asan(programs, cases, how, jobs):
    with ThreadPoolExecutor(jobs) as pool:
        for number, status, said in pool.map(asan_one, [(programs[program(c)], c, how) for c in cases]):
            yield number, status, bool(SAID["asan"].search(said))


def memcheck_program(job):
    """One Valgrind that forks for each case, so that it starts once; what is said in between is the case's."""
    path, cases, how = job
    given = "".join(f"{c.number} {how}\n" for c in cases)
    done = subprocess.run(["stdbuf", "-oL", "valgrind", "--leak-check=no", "--undef-value-errors=no", "--num-callers=8", path, "-", "fork"],
                          input=given.encode(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=3000)
    result, said = {}, False
    for line in done.stdout.decode(errors="replace").splitlines():
        end = re.fullmatch(r"(\d+) (\d+) (\d+)", line)
        if end:
            result[int(end[1])], said = (int(end[3]), said), False
        elif SAID["memcheck"].search(line):
            said = True
    return result


def memcheck(programs, cases, how, jobs):
    groups = {}
    for i, case in enumerate(c for c in cases if not c.entry or c.entry.name != "pvalloc"):  # Valgrind 3.19 has none and ends the program
        groups.setdefault((program(case), i % jobs), []).append(case)
    with ThreadPoolExecutor(jobs) as pool:
        for result in pool.map(memcheck_program, [(programs[name], group, how) for (name, _), group in groups.items()]):
            for number, (status, said) in result.items():
                yield number, status, said


def run(name, cases, folder, jobs, total):
    flags = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"] if name == "asan" else []
    programs = build(cases, folder, jobs, flags)
    how = {"asan": asan, "memcheck": memcheck}[name]
    by_number = {c.number: c for c in cases}
    for number, status, said in how(programs, cases, "bug", jobs):
        total.add(by_number[number], Verdict(found=said), FOUND, status)
    total.false = 0
    for number, status, said in how(programs, cases, "twin", jobs):
        if said or status:
            total.false += 1
            print(f"{name}: twin {number}: status {status}: {by_number[number].name()}", flush=True)
    t = total.total()
    print(f"{PEERS[name]}: {t['all']} bugs: {t['found']} found; {total.false} of the twins", flush=True)
    return total
