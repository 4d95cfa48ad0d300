# SPDX-License-Identifier: GPL-2.0-or-later
"""Bugs run under `pmm check`: a level's options, all cases as children of a few checked processes, what was found of each."""

import json
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

from build import program

LEVELS = {
    "light": ["--level=light", "--budget=all"],
    "light-default": ["--level=light"],
    "guard": [],
    "guard-all": ["--budget=all"],
    "right": ["--right", "--budget=all"],
    "left": ["--left", "--budget=all"],
    "left-default": ["--left"],
    "exhaustive": ["--exhaustive", "--budget=all", "--top=0"],
    "mprotect": ["--no-madvise-guard", "--budget=all"],
    "sampled": ["--level=sampled", "--sample=1", "--budget=all"],
    "sampled-default": ["--level=sampled"],
    "none": ["--level=sampled", "--sample=1G", "--no-strings"],  # as good as no check, judged as guard: the rules must notice
}


def documents(text):
    """The JSON values of a file, one behind the other."""
    decoder, at = json.JSONDecoder(), 0
    while True:
        while at < len(text) and text[at].isspace():
            at += 1
        if at == len(text):
            return
        value, at = decoder.raw_decode(text, at)
        yield value


def case_of(finding, numbers):
    """The case whose functions are in its stacks; None: it has no stack, as some crashes."""
    named = {int(m[1]) for s in finding["frames"] if (m := re.search(r"_(\d+)$", s.get("function", "").partition("(")[0]))} & set(numbers)
    return max(named) if named else None


def shard(pmm, lines, programs, options, folder, cases, how, limit):
    """One `pmm check` with these cases; {number: (findings, status)}."""
    given = "".join(f"{list(programs).index(program(c))}:{c.number} {how}\n" for c in cases)
    report = f"{folder}/report.json"
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/in", "w") as f:
        f.write(given)
    with open(f"{folder}/in") as lines_in, open(f"{folder}/out", "w+") as out, open(f"{folder}/err", "w+") as err:
        done = subprocess.run([pmm, "check", "--json", "--report", report, *options, "--", lines, *programs.values()], stdin=lines_in,
                              stdout=out, stderr=err, timeout=limit, env={**os.environ, "LC_ALL": "C", "NO_COLOR": "1", "DEBUGINFOD_URLS": ""})
        out.seek(0)
        err.seek(0)
        status = {}
        for line in out:
            name, _, code = line.rpartition(": ")
            status[int(name.split(":")[1].split()[0])] = int(code)
        if done.returncode or len(status) != len(cases):
            raise SystemExit(f"bugs.py: pmm check: status {done.returncode}, {len(status)} of {len(cases)} cases were run: {err.read()[-2000:]}")
    found = {c.number: [] for c in cases}
    with open(report) as f:
        for document in documents(f.read()):
            words = document["process"]["cmdline"].split()
            if words[-1] in ("bug", "twin"):
                found[int(words[-2])] += document["findings"]
            else:  # --exhaustive: all processes as one
                for f in document["findings"]:
                    found.setdefault(case_of(f, found), []).append(f)
    return {n: (found[n], status[n]) for n in status}


def run_level(pmm, lines, programs, options, folder, cases, how, jobs=2, limit=1800):
    """All cases, as many shards at a time as there are jobs."""
    shards = [cases[i::jobs] for i in range(jobs)]
    results = {}
    with ThreadPoolExecutor(jobs) as pool:
        for part in pool.map(lambda i: shard(pmm, lines, programs, options, f"{folder}/{how}{i}", shards[i], how, limit),
                             [i for i in range(jobs) if shards[i]]):
            results.update(part)
    return results
