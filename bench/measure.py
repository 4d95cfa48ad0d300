# SPDX-License-Identifier: GPL-2.0-or-later
"""Running a command and measuring its whole tree of processes: CPU time and memory."""

import ctypes
import os
import time
from dataclasses import dataclass

PR_SET_CHILD_SUBREAPER = 36
POLL_SECONDS = 0.002
PSS_POLLS = 20    # PSS is looked at once in so many: the kernel walks all pages for it
LEDGER = "/memfd:pmm-ledger"


@dataclass
class Usage:
    """What a run took. CPU in seconds, of the whole tree; rss_kib of its largest process."""
    cpu: float
    wall: float
    rss_kib: int
    status: int


def adopt_orphans():
    """Let processes whose parents are gone become our children, so that we get to know what they used."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def start(argv, environment, log):
    """Start argv, its output to the file `log`; the child's pid. Spawned, so that it never looks like a copy of us."""
    actions = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
               (os.POSIX_SPAWN_OPEN, 1, log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
               (os.POSIX_SPAWN_DUP2, 1, 2)]
    return os.posix_spawnp(argv[0], argv, {**os.environ, **(environment or {})}, file_actions=actions)


def reap(pid, poll=None):
    """Wait until no child is left; (CPU seconds, largest RSS in KiB, exit status of pid). Calls poll() meanwhile."""
    cpu, rss, status = 0.0, 0, None
    while True:
        try:
            done, code, used = os.wait4(-1, os.WNOHANG if poll else 0)
        except ChildProcessError:
            return cpu, rss, status
        if not done:
            poll()
            time.sleep(POLL_SECONDS)
            continue
        cpu += used.ru_utime + used.ru_stime
        rss = max(rss, used.ru_maxrss)
        if done == pid:
            status = os.waitstatus_to_exitcode(code)


def run(argv, log, environment=None, drive=None):
    """
    Run argv to its end and that of all its descendants. drive() is called while it runs, to make load and end it; what
    that takes is not counted.
    """
    before = time.monotonic()
    pid = start(argv, environment, log)
    if drive:
        drive()
    cpu, rss, status = reap(pid)
    return Usage(cpu, time.monotonic() - before, rss, status)


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def tree(pid):
    """The pids of a process and its descendants."""
    found = [pid]
    for parent in found:
        try:
            threads = os.listdir(f"/proc/{parent}/task")
        except OSError:
            continue
        for thread in threads:
            found += map(int, read(f"/proc/{parent}/task/{thread}/children").split())
    return found


def anonymous_kib(pid):
    for line in read(f"/proc/{pid}/status").splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1])
    return 0


def find_ledger(pid):
    """The name under /proc of the ledger that a process holds open, if it does."""
    directory = f"/proc/{pid}/fd"
    try:
        for name in os.listdir(directory):
            if os.readlink(f"{directory}/{name}").startswith(LEDGER):
                return f"{directory}/{name}"
    except OSError:
        pass
    return None


def pss_kib(pid):
    """What a process holds, pages it shares by their share; the ledger's pages that are mapped among them."""
    for line in read(f"/proc/{pid}/smaps_rollup").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1])
    return 0


class Peak:
    """The most memory a tree had at once: `kib` are private pages of all its processes and the backing of the ledger."""

    def __init__(self, with_pss=False):
        self.kib = self.pss_kib = 0
        self.with_pss = with_pss
        self.polls = 0
        self.ledger = None

    def ledger_kib(self, pid):
        self.ledger = self.ledger or find_ledger(pid)
        try:
            return os.stat(self.ledger).st_blocks // 2 if self.ledger else 0
        except OSError:
            return 0

    def poll(self, pid):
        pids = tree(pid)
        self.kib = max(self.kib, sum(map(anonymous_kib, pids)) + self.ledger_kib(pid))
        if self.with_pss and self.polls % PSS_POLLS == 0:
            self.pss_kib = max(self.pss_kib, sum(map(pss_kib, pids)))
        self.polls += 1


def watch(peak, argv, log, environment=None, drive=None):
    """Run argv to its end. drive(poll) calls poll() meanwhile."""
    pid = start(argv, environment, log)
    if drive:
        drive(lambda: peak.poll(pid))
    reap(pid, lambda: peak.poll(pid))
    return peak


def peak_memory(argv, log, **how):
    """A Peak of the tree while argv runs, PSS too."""
    return watch(Peak(with_pss=True), argv, log, **how)


def peak_kib(argv, log, **how):
    """The peak in KiB of the tree's memory while argv runs."""
    return watch(Peak(), argv, log, **how).kib
