# SPDX-License-Identifier: GPL-2.0-or-later
"""Running a command and measuring its whole tree of processes: CPU time and memory."""

import contextlib
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
        names = os.listdir(directory)
    except OSError:
        return None
    return next((path for path in (f"{directory}/{name}" for name in names) if is_ledger(path)), None)


def is_ledger(path):
    try:
        return os.readlink(path).startswith(LEDGER)
    except OSError:
        return False


def ledger_kib(path):
    """The backing of the ledger of that name; None: the name is none of a ledger, any more or at all."""
    try:
        blocks = os.stat(path or "").st_blocks
    except OSError:
        return None
    return blocks // 2 if is_ledger(path) else None


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
        """A descriptor's number does not stay: pmm gets the ledger under one and goes on with another."""
        kib = ledger_kib(self.ledger)
        if kib is None:
            self.ledger = find_ledger(pid)
            kib = ledger_kib(self.ledger)
        return kib or 0

    def poll(self, pid, with_all=False):
        pids = tree(pid)
        self.kib = max(self.kib, sum(map(anonymous_kib, pids)) + self.ledger_kib(pid))
        if self.with_pss and (with_all or self.polls % PSS_POLLS == 0):
            self.pss_kib = max(self.pss_kib, sum(map(pss_kib, pids)))
        self.polls += 1


class Held:
    """
    The FIFO `path` by which a program that is at its peak waits to be seen there: it writes a line, and goes on when
    nobody has the FIFO open to read any more.
    """

    def __init__(self, path):
        self.path = path
        os.mkfifo(path)
        self.fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)

    def is_ready(self):
        try:
            return self.fd is not None and b"\n" in os.read(self.fd, 100)
        except BlockingIOError:
            return False

    def let_go(self):
        if self.fd is not None:
            os.close(self.fd)
        self.fd = None

    def fini(self):
        """True: it was seen at its peak."""
        seen = self.fd is None
        self.let_go()
        os.unlink(self.path)
        return seen


@contextlib.contextmanager
def prompt():
    """Who polls is not kept waiting for a processor, if that is allowed; children are as ever."""
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(os.sched_get_priority_min(os.SCHED_RR)))
    except OSError:
        before = None
    try:
        yield
    finally:
        if before:
            os.sched_setscheduler(0, *before)


def watch(peak, argv, log, environment=None, drive=None, hold=None):
    """Run argv to its end. drive(poll) calls poll() meanwhile. `hold`: a path to be made a FIFO, for Held."""
    held = Held(hold) if hold else None

    def poll():
        ready = held and held.is_ready()
        peak.poll(pid, with_all=ready)
        if ready:
            held.let_go()

    pid = start(argv, environment, log)
    with prompt():
        if drive:
            drive(poll)
        reap(pid, poll)
    if held and not held.fini():
        raise RuntimeError(f"{argv[0]} was not seen at its peak: {read(log)[-500:]}")
    return peak


def peak_memory(argv, log, **how):
    """A Peak of the tree while argv runs, PSS too."""
    return watch(Peak(with_pss=True), argv, log, **how)


def peak_kib(argv, log, **how):
    """The peak in KiB of the tree's memory while argv runs."""
    return watch(Peak(), argv, log, **how).kib
