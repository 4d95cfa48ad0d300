# SPDX-License-Identifier: GPL-2.0-or-later
"""The two that search: how a program is run under memcheck and under pmm, in conditions that are the same for both, and what each found.

What differs between the two and is no matter of leaks is made equal (doc/leaks.md, "The same conditions"):
- number and size of the environment's variables, of which programs make copies, and the number of preloaded libraries;
- what new and freed memory holds: memcheck puts off the reuse of memory, malloc does not, so blocks that are not written to hold old pointers;
- where mmap() puts things, from low addresses to high ones, and the same each time.
"""

import dataclasses
import glob
import json
import os
import re
import shutil
import subprocess
import tempfile
import xml.etree.ElementTree

from programs import LIMIT, PROGRAMS, Run, Trouble

CLASSES = ("definite", "indirect", "possible", "reachable")
MEMCHECK = {"Leak_DefinitelyLost": "definite", "Leak_IndirectlyLost": "indirect", "Leak_PossiblyLost": "possible", "Leak_StillReachable": "reachable"}
VALGRIND = ["valgrind", "-q", "--tool=memcheck", "--trace-children=yes", "--leak-check=full", "--leak-resolution=high", "--show-leak-kinds=all",
            "--num-callers=60", "--run-libc-freeres=no", "--run-cxx-freeres=no", "--malloc-fill=5a", "--free-fill=a5", "--xml=yes"]
# The heuristics that memcheck has too.
PMM = ["leaks", "--json", "--no-default-suppressions", "--heuristics=stdstring,length64,newarray,multipleinheritance", "--fail-on=none"]


@dataclasses.dataclass
class Entry:
    cls: str
    bytes: int
    blocks: int
    frames: list     # (file, function or ""), innermost first


@dataclasses.dataclass
class Process:
    pid: int
    parent: int
    name: str
    forked: bool
    entries: list

    def total(self, cls):
        return sum(e.bytes for e in self.entries if e.cls == cls), sum(e.blocks for e in self.entries if e.cls == cls)


# ---- what was found ----

def plain(function):
    """A function's name without version, parameters, the marks of copies, and underscores at its beginning (aliases)."""
    return re.sub(r"@.*|\(.*|\.(constprop|part|isra|cold).*", "", function or "").lstrip("_")


STARTERS = ("libc_start", "call_init", "dl_init", "start")


def frames(found):
    """Those that both name: not the allocator's own, nor what calls main() and constructors, nor anything further out."""
    out = []
    for file, function in found:
        file, function = os.path.basename(file or "?"), plain(function)
        if function.startswith(STARTERS) or (file, function) == ("libc.so.6", ""):    # "(below main)"
            break
        if function not in ("malloc", "calloc", "realloc") and not file.startswith(("vgpreload", "libpmm", "libjemalloc", "?")) and \
                not function.startswith("operator new"):
            out.append((file, function))
    return out


def by_memcheck(path):
    root = xml.etree.ElementTree.parse(path).getroot()
    entries = []
    for error in root.findall("error"):
        cls = MEMCHECK.get(error.findtext("kind"))
        if cls:
            what = error.find("xwhat")
            direct = re.search(r"\(([\d,]+) direct", what.findtext("text"))
            size = direct[1].replace(",", "") if direct else what.findtext("leakedbytes")
            stack = [(f.findtext("obj"), f.findtext("fn")) for f in error.find("stack").findall("frame")]
            entries.append(Entry(cls, int(size), int(what.findtext("leakedblocks")), frames(stack)))
    return Process(int(root.findtext("pid")), int(root.findtext("ppid")), os.path.basename(root.findtext("args/argv/exe")), False, entries)


def by_pmm(pmm, path):
    out = subprocess.run([pmm, "leaks", "--json", "--no-default-suppressions", "--fail-on=none", "--show=all", "--top=0", "--depth=0", path],
                         capture_output=True, text=True, timeout=LIMIT, check=True)
    report = json.loads(out.stdout)
    entries = [Entry(e["class"], e["bytes"], e["blocks"], frames([(f.get("module"), f.get("function")) for f in e["frames"]]))
               for verdict in ("certain", "likely", "growing", "unlikely", "suppressed") for e in report.get(verdict) or []]
    p = report["process"]
    process = Process(p["pid"], p["ppid"], p["comm"], p["began"] == "fork", entries)
    for total in report["totals"]:
        if total["class"] in CLASSES and process.total(total["class"]) != (total["bytes"], total["blocks"]):
            raise Trouble(f"pmm: entries of {total['class']} are not its sum")
    return process


# ---- running ----

def layout():
    """setarch's options for addresses from low to high, the same each time; nothing where a container forbids that."""
    how = ["setarch", "-L", "-R"]
    return how if subprocess.run([*how, "true"], check=False, capture_output=True).returncode == 0 else []


def environment():
    e = {k: v for k, v in os.environ.items() if k in ("HOME", "LANG", "TZ", "USER")}
    e.update(PATH=os.environ["PATH"] + ":/usr/sbin", LC_ALL="C.UTF-8", DEBUGINFOD_URLS="", GLIBCPP_FORCE_NEW="1", GLIBCXX_FORCE_NEW="1",
             LD_LIBRARY_PATH="/usr/lib/debug", MALLOC_PERTURB_="165", MALLOC_MMAP_THRESHOLD_="4096", MALLOC_CONF="junk:true")
    return e


class Tool:
    """How a command is run by one of the two, in the same conditions as by the other."""

    def __init__(self, name, pmm):
        self.name, self.pmm, self.how = name, pmm, layout()
        self.digits = 0    # of the process id, which is in pmm's own variable, when it ran last
        self.environment = dict(environment(), PAD="xxxx")
        if name == "pmm":
            self.environment["LD_PRELOAD"] = "libanl.so.1"    # Valgrind preloads two libraries; this one is empty

    def command(self, argv, prefix, out):
        if self.name == "memcheck":
            return [*self.how, *prefix, *VALGRIND, f"--xml-file={out}/%p.xml", *argv]
        return [self.pmm, *PMM, f"--report={out}/tree.json", "-o", f"{out}/%p.pmm", "--", *self.how, *prefix, *argv]

    def start(self, what, out, work, stdout):
        process = subprocess.Popen(self.command(what.argv, what.prefix, out), env=dict(self.environment, PWD=work), cwd=work, stdin=subprocess.PIPE,
                                   stdout=stdout, stderr=subprocess.STDOUT)
        self.digits = len(str(process.pid))
        return process

    def seen(self):
        """Variables and their bytes, as a program has them."""
        with tempfile.TemporaryDirectory(prefix="pmm-memcheck-") as out:
            said = self.start(Run(["env", "-0"]), out, out, subprocess.PIPE).communicate(timeout=LIMIT)[0]
        return said.count(b"\0"), len(said)

    def found(self, out):
        if self.name == "pmm":
            processes = [by_pmm(self.pmm, f) for f in glob.glob(f"{out}/*.pmm")]
        else:
            processes = [by_memcheck(f) for f in glob.glob(f"{out}/*.xml")]
            for p in processes:    # memcheck does not say it; a child that called exec names another program
                p.forked = any(q.pid == p.parent and q.name == p.name for q in processes)
        first = next((p.pid for p in processes if not any(q.pid == p.parent for q in processes)), 0)
        return sorted(processes, key=lambda p: (p.pid - first) % (1 << 22))    # as they began: process ids start over at some number


def tools(pmm):
    """Both, with environments of the same number of variables and bytes."""
    both = Tool("memcheck", pmm), Tool("pmm", pmm)
    seen = [t.seen()[0] for t in both]
    for i in range(abs(seen[0] - seen[1])):
        both[seen.index(min(seen))].environment[f"PAD{i}"] = ""
    return both


def equalize(both):
    """The same bytes, too."""
    for _ in range(5):
        seen = [t.seen() for t in both]
        if seen[0] == seen[1]:
            return
        shorter = both[seen.index(min(seen))]
        shorter.environment["PAD"] += "x" * abs(seen[0][1] - seen[1][1])
    raise Trouble(f"the environments cannot be made equal: {seen}")


def run_both(both, name, keep):
    """A program's processes under memcheck and under pmm. Under pmm first: memcheck's environment can be made as large, whatever the process id."""
    memcheck, pmm = both
    equalize(both)
    digits = pmm.digits
    found = run(pmm, name, keep)
    pad = len(memcheck.environment["PAD"])
    memcheck.environment["PAD"] = "x" * (pad + pmm.digits - digits)
    return run(memcheck, name, keep), found


def run(tool, name, keep):
    """A program in a directory of its own, to its end: its processes, the first one first."""
    directory = tempfile.mkdtemp(prefix=f"pmm-{name}-", dir=keep)
    out = f"{directory}/{tool.name}"
    os.chmod(directory, 0o755)
    os.mkdir(out)
    os.chmod(out, 0o1777)
    work = f"{directory}/work"
    os.mkdir(work)
    process = None
    try:
        what = PROGRAMS[name](work)
        with open(f"{directory}/said", "wb") as said:
            process = tool.start(what, out, work, said)
            process.stdin.write(what.stdin.encode())
            process.stdin.close()
            if what.load:
                what.load()
            status = process.wait(LIMIT)
        if status != 0:
            with open(f"{directory}/said", encoding="utf-8", errors="replace") as said:
                raise Trouble(f"{name} under {tool.name} ended with status {status}: {said.read()[-500:]}")
        return tool.found(out)
    finally:
        if process and process.poll() is None:
            process.kill()
            process.wait()
        if not keep:
            shutil.rmtree(directory, ignore_errors=True)
