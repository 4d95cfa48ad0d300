# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs of bugs: generated, compiled and linked in a directory, for a language and an optimisation each."""

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor

from emit import source

HERE = os.path.dirname(os.path.abspath(__file__))
FLAGS = ["-g1", "-D_GNU_SOURCE", f"-I{HERE}", "-w", "-fno-builtin", "-fno-optimize-sibling-calls", "-pthread"]
PER_FILE = 120


def program(case):
    return f"bugs_{'cxx' if case.cxx else 'c'}_{case.opt}"


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"bugs.py: {' '.join(command)}:\n{done.stderr[:4000]}")


def compile_one(job):
    text, path, flags, output = job
    if text is not None:
        with open(path, "w") as f:
            f.write(text)
    cxx = path.endswith(".cc")
    run(["g++" if cxx else "gcc", *(["-std=c++17"] if cxx else ["-std=gnu11"]), *FLAGS, *flags, "-c", path, "-o", output])
    return output


def each_line(folder):
    """The program that runs the others, tests/prog/each_line.c."""
    os.makedirs(folder, exist_ok=True)
    run(["gcc", "-O1", "-D_GNU_SOURCE", f"{HERE}/../prog/each_line.c", "-o", f"{folder}/each_line"])
    return f"{folder}/each_line"


def build(cases, folder, jobs, more=()):
    """Makes all programs of these cases in a folder; gives the name of each. `more` are flags for compiler and linker (-fsanitize=address)."""
    os.makedirs(folder, exist_ok=True)
    groups = {}
    for case in cases:
        groups.setdefault(program(case), []).append(case)
    work, parts = [], {}
    for name, group in groups.items():
        cxx, opt = "cxx" in name, name[-2:]
        for i in range(0, len(group), PER_FILE):
            path = f"{folder}/{name}_{i // PER_FILE}.{'cc' if cxx else 'c'}"
            work.append((source(group[i:i + PER_FILE], cxx), path, [f"-{opt}", *more], path + ".o"))
            parts.setdefault(name, []).append(path + ".o")
    for file in ("run.c", "run_cxx.cc"):
        work.append((None, f"{HERE}/{file}", ["-O1", *more], f"{folder}/{file}.o"))
    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(compile_one, work))
        list(pool.map(run, [["g++" if "cxx" in name else "gcc", "-pthread", *more, *objects, f"{folder}/run.c.o",
                             *([f"{folder}/run_cxx.cc.o"] if "cxx" in name else []), "-o", f"{folder}/{name}"] for name, objects in parts.items()]))
    return {name: f"{folder}/{name}" for name in parts}
