#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""run_stop.py PMM CAPTURE: at a terminal a program under `pmm run` is stopped and continued, alone or with pmm as by a shell.

pmm stops with the program, so that the shell sees it, and goes on with it. The program hears of each SIGCONT that was sent and of no other. It says so,
as one that it has not been told of yet is gone when it is stopped anew.
"""
import os
import pty
import signal
import sys
import time

PMM, CAPTURE = sys.argv[1:]
SECONDS = 60
PROGRAM = """
import os, signal, sys
count = 0
def on_cont(sig, frame):
    global count
    count += 1
    os.write(1, b"continued %d\\n" % count)
signal.signal(signal.SIGCONT, on_cont)
print("ready", flush=True)
for line in sys.stdin:
    print("heard", line.strip(), flush=True)
    if line.strip() == "end":
        break
sys.exit(40 + count)
"""


def state(pid):
    with open(f"/proc/{pid}/stat") as f:
        return f.read().rsplit(") ", 1)[1][0]


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as f:
        return [int(word) for word in f.read().split()]


def until(what, condition):
    end = time.monotonic() + SECONDS
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"in vain: {what}")
        time.sleep(0.01)


def hear(fd, word):
    said = b""
    end = time.monotonic() + SECONDS
    while word not in said:
        if time.monotonic() > end:
            sys.exit(f"{word} is not said, but {said}")
        said += os.read(fd, 1000)


def stop_and_continue(monitor, terminal):
    hear(terminal, b"ready")
    program = children(monitor)[0]
    for number, time_ in ((1, "once"), (2, "twice")):	# by SIGSTOP: a group that no shell watches is not stopped by SIGTSTP
        os.kill(program, signal.SIGSTOP)
        until(f"stopped {time_}", lambda: state(program) == "T" and state(monitor) == "T")
        os.kill(program, signal.SIGCONT)
        until(f"continued {time_}", lambda: state(program) != "T" and state(monitor) != "T" and children(monitor) == [program])
        hear(terminal, b"continued %d" % number)
    os.kill(program, signal.SIGSTOP)
    until("stopped before pmm alone is continued", lambda: state(program) == "T" and state(monitor) == "T")
    os.kill(monitor, signal.SIGCONT)
    until("continued by pmm", lambda: state(program) != "T" and state(monitor) != "T" and children(monitor) == [program])
    hear(terminal, b"continued 3")
    os.write(terminal, b"end\n")
    hear(terminal, b"heard end")
    _, status = os.waitpid(monitor, 0)
    if not os.WIFEXITED(status) or os.WEXITSTATUS(status) != 40 + 3:
        sys.exit(f"status {status:#x}: not three times SIGCONT")


def main():
    monitor, terminal = pty.fork()
    if not monitor:
        os.execv(PMM, [PMM, "run", "-q", "-o", CAPTURE, "--", sys.executable, "-c", PROGRAM])
    try:
        stop_and_continue(monitor, terminal)
    except BaseException:
        os.kill(monitor, signal.SIGKILL)
        raise


main()
