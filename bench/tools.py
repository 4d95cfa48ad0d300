# SPDX-License-Identifier: GPL-2.0-or-later
"""The ways a command is run: natively, under pmm (exact and sampled), under heaptrack, with LeakSanitizer preloaded."""

import glob
import os
import shutil


def liblsan():
    """The library, None: it is not installed."""
    found = glob.glob("/usr/lib/*-linux-gnu/liblsan.so.0") + glob.glob("/usr/lib64/liblsan.so.0")
    return found[0] if found else None


class Tool:
    """`name`, how it changes a command line (captures go to the directory given) and the variables it adds."""

    def __init__(self, name, wrap, environment=None):
        self.name, self.wrap, self.environment = name, wrap, environment or {}

    def missing(self):
        if self.name == "liblsan":
            return None if liblsan() else "package liblsan0"
        return "heaptrack" if self.name == "heaptrack" and not shutil.which("heaptrack") else None


def pmm_run(name, pmm, *options):
    return Tool(name, lambda argv, out: [pmm, "run", "-q", *options, "-o", f"{out}/%p.pmm", "--", *argv])


def all_tools(pmm):
    """In the order of the tables, native first."""
    return [
        Tool("native", lambda argv, out: argv),
        pmm_run("pmm", pmm),
        pmm_run("sampled", pmm, "--sample"),
        Tool("heaptrack", lambda argv, out: ["heaptrack", "-o", f"{out}/heaptrack", *argv]),
        # keeps every block and its stack, by frame pointers; its search at the end is left out
        Tool("liblsan", lambda argv, out: argv, {"LD_PRELOAD": liblsan(), "LSAN_OPTIONS": "detect_leaks=0"}),
    ]


def fresh_directory(parent, name):
    """An empty directory for the captures of one run."""
    path = os.path.join(parent, name)
    shutil.rmtree(path, ignore_errors=True)
    os.mkdir(path)
    return path


def captured_bytes(directory):
    """What a run left there."""
    return sum(entry.stat().st_size for entry in os.scandir(directory) if entry.name != "log")
