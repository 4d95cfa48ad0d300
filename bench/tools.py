# SPDX-License-Identifier: GPL-2.0-or-later
"""The ways a command is run: natively, under pmm (exact and sampled), under heaptrack, with LeakSanitizer preloaded."""

import glob
import os
import shutil


def liblsan():
    """The library, None: it is not installed."""
    found = glob.glob("/usr/lib/*-linux-gnu/liblsan.so.0") + glob.glob("/usr/lib64/liblsan.so.0")
    return found[0] if found else None


def with_liblsan(argv, _):
    """LeakSanitizer keeps every block and its stack, by frame pointers; its search at the end is left out."""
    return ["env", f"LD_PRELOAD={liblsan()}", "LSAN_OPTIONS=detect_leaks=0", *argv]


class Tool:
    """`name`, and how it changes a command line; captures go to the directory given."""

    def __init__(self, name, wrap):
        self.name, self.wrap = name, wrap

    def missing(self):
        if self.name == "liblsan":
            return None if liblsan() else "package liblsan0"
        return "heaptrack" if self.name == "heaptrack" and not shutil.which("heaptrack") else None


def all_tools(pmm):
    """In the order of the tables, native first."""
    return [
        Tool("native", lambda argv, out: argv),
        Tool("pmm", lambda argv, out: [pmm, "run", "-q", "-o", f"{out}/%p.pmm", "--", *argv]),
        Tool("sampled", lambda argv, out: [pmm, "run", "-q", "--sample", "-o", f"{out}/%p.pmm", "--", *argv]),
        Tool("heaptrack", lambda argv, out: ["heaptrack", "-o", f"{out}/heaptrack", *argv]),
        Tool("liblsan", with_liblsan),
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
