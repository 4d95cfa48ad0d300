# SPDX-License-Identifier: GPL-2.0-or-later
"""
Calls that wait, start threads, or change what the process does with signals. Below src/cmd/ only the loop makes them, and the files of the table
"What may wait, and why" of doc/ARCHITECTURE.md: | `path` | `call` `call` | reason |.
"""

import re

from check import tree

PAGE, CHAPTER = "doc/ARCHITECTURE.md", "### What may wait, and why"
LOOP = "src/base/loop.c"
CALLS = """
    thread_start pthread_create pthread_join pthread_cond_wait pthread_cond_timedwait sem_wait sem_timedwait
    signal sigaction sigprocmask pthread_sigmask sigsuspend sigwait sigwaitinfo sigtimedwait pause setitimer alarm
    sleep usleep nanosleep clock_nanosleep poll ppoll select pselect epoll_wait epoll_pwait loop_run
    wait waitpid waitid wait4 flock lockf system popen
""".split()
CALL = re.compile(rf"(?<![\w.>])({'|'.join(CALLS)})\s*\(")
# what comes before a call, and not before a declaration
BEFORE = re.compile(r"\b(?:return|else|do)\s*$")
# never waits
AT_ONCE = {"poll": re.compile(r",\s*0\s*$"), "waitid": re.compile("WNOHANG"), "waitpid": re.compile("WNOHANG")}


def arguments(code, at):
    """What is between the parenthesis before `at` and the one that closes it."""
    depth = 1
    for end in range(at, len(code)):
        depth += (code[end] == "(") - (code[end] == ")")
        if not depth:
            return code[at:end]
    return code[at:]


def calls(path):
    """(line, name) of each call of a file that may wait, or changes signals."""
    code = tree.code_of(path)
    for m in CALL.finditer(code):
        before = code[max(0, m.start() - 40):m.start()]
        declared = re.search(r"[\w*]\s*$", before) and not BEFORE.search(before)
        at_once = m[1] in AT_ONCE and AT_ONCE[m[1]].search(arguments(code, m.end()))
        if not declared and not at_once:
            yield code.count("\n", 0, m.start()) + 1, m[1]


def allowed():
    """{(path, call)} of the table."""
    rows = tree.text_of(PAGE).partition(CHAPTER)[2].partition("\n#")[0]
    return {(path, call) for path, names in re.findall(r"^\| `([^`]+)` \| ([^|]*) \| *[^| ][^|]*\|$", rows, re.M)
            for call in re.findall(r"`(\w+)`", names)}


def check_waits():
    table = allowed()
    unused = set(table)
    for path in tree.walk("src"):
        if path.startswith("src/cmd/") or path == LOOP:
            continue
        for line, name in calls(path):
            unused.discard((path, name))
            if (path, name) not in table:
                yield f"{path}:{line}: {name}() below src/cmd; {PAGE} says what may wait"
    for path, name in sorted(unused):
        yield f"{PAGE}: {path} does not call {name}()"


CHECKS = (("below the commands only the loop waits", check_waits),)
COUNTED = ()
