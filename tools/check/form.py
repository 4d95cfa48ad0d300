# SPDX-License-Identifier: GPL-2.0-or-later
"""How files are made: names, licences, first lines, guards, how wide, how long, how many."""

import collections
import os
import re

from check import tree

MAX_COLUMNS = 100
MAX_WIDE = 160      # of scripts and of programs that pmm is tried on, whose lines are numbered in what the tests expect
MAX_BODY = 80       # lines of a function between its braces
MAX_LINES = 600     # of a file
MAX_FOLDER = 25     # .c files
# what cannot be broken: one literal, and what must be around it
LITERAL_LINE = re.compile(r'\s*"(?:\\.|[^"\\])*"[\s,;)}\\]*$|\s*\*?\s*(?:https?://\S+)\s*$')

# in kmod/: with the call it belongs to, since the kernel's style keeps a message on one line
MESSAGE_LINE = re.compile(r'\s*\w+\((?:[\w>-]+, )*"(?:\\.|[^"\\])*"[\s,;)}\\]*$')


def columns(line):
    return len(line.expandtabs(8))


def check_columns():
    for path in tree.walk(*tree.BUILT, "examples"):
        for number, line in enumerate(tree.text_of(path).split("\n"), 1):
            message = path.startswith("kmod/") and MESSAGE_LINE.match(line)
            if columns(line) > MAX_COLUMNS and not message and not LITERAL_LINE.match(line):
                yield f"{path}:{number}: {columns(line)} columns, more than {MAX_COLUMNS}"


def check_programs():
    """Comments do not count: what a program is, its first line says."""
    for path in tree.walk(*(top for top in tree.PROGRAMS if top != "examples"), "tests/faults", ends=(".c", ".h", ".cc")):
        for number, line in enumerate(tree.code_of(path).split("\n"), 1):
            if columns(line.rstrip()) > MAX_WIDE:
                yield f"{path}:{number}: {columns(line.rstrip())} columns, more than {MAX_WIDE}"


def count_scripts():
    count = collections.Counter()
    for path in tree.walk("tools", "tests", "bench", "examples", ends=""):
        script = path.endswith((".bats", ".bash", ".sh", ".py")) or (
            "." not in os.path.basename(path) and "/corpus/" not in path and open(path, "rb").read(2) == b"#!")
        if script:
            count[path] += sum(columns(line) > MAX_WIDE for line in tree.text_of(path).split("\n"))
    return +count


def functions(path):
    """(line, name, body lines) of each function: its braces stand in the first column."""
    begin, name = None, "?"
    code = re.sub(r"\\\n", " \n", tree.DIRECTIVE.sub(lambda m: tree.blanks(m[0]), tree.code_of(path)))
    for number, line in enumerate(code.split("\n"), 1):
        if line.startswith("{"):
            begin = number
        elif line.startswith("}") and begin is not None:
            yield begin, name, number - begin - 1
            begin = None
        elif begin is None:
            called = re.search(r"(\w+)\s*\(", line)
            if called and not line[0].isspace():
                name = called[1]


def check_functions():
    for path in tree.walk(*tree.BUILT, "examples"):
        for number, name, lines in functions(path):
            if lines > MAX_BODY:
                yield f"{path}:{number}: {name}() has {lines} lines, more than {MAX_BODY}"


def check_files():
    for path in tree.product():
        lines = tree.text_of(path).count("\n")
        if lines > MAX_LINES:
            yield f"{path}: {lines} lines, more than {MAX_LINES}"


def count_folders():
    """Offences of folders with too many sources: (folder, how many too many)."""
    count = collections.Counter(os.path.dirname(path)
                                for path in tree.walk("src", "agent", "shim", ends=(".c",)))
    return {folder: n for folder, n in count.items() if n > MAX_FOLDER}


def check_names():
    """Two files of one name are hard to speak of. The programs of the tests are alone in theirs; arch/NAME.h selects arch/<processor>/NAME.h."""
    seen = {}
    for path in tree.built():
        if re.match(r"arch/\w+/", path):
            continue
        name = os.path.basename(path)
        if name in seen:
            yield f"{path}: {seen[name]} has the same name"
        seen.setdefault(name, path)


def guard_of(path):
    return re.sub(r"\W", "_", re.sub(r"^(?:src|include)/", "", path)).upper()


def check_guards():
    for path in tree.walk(*tree.BUILT, ends=(".h",)):
        guard = re.search(r"^#(?:ifndef |elif !defined\()(\w+)\)?\n#define \1$", tree.text_of(path), re.M)
        if not guard:
            yield f"{path}: no header guard"
        elif guard[1] != guard_of(path):
            yield f"{path}: its guard is {guard[1]}, not {guard_of(path)}"


def check_first_lines():
    for path in tree.product():
        if not tree.text_of(path).split("\n", 1)[1].startswith("/*"):
            yield f"{path}: after the licence, the first line is a comment that says what it is"


def check_licences():
    for path in tree.licensed():
        mit = path.startswith(("agent/", "include/", "shim/", "arch/"))
        licence = "MIT" if mit else "GPL-2.0-or-later"
        with open(path, encoding="utf-8", errors="replace") as file:
            head = file.readline() + file.readline()
        if f"SPDX-License-Identifier: {licence}" not in head:
            yield f"{path}: its first line does not say 'SPDX-License-Identifier: {licence}'"


CHECKS = (
    ("files name their licence", check_licences),
    ("files say what they are", check_first_lines),
    ("lines are short", check_columns),
    ("lines of programs that are tried out are short", check_programs),
    ("functions are short", check_functions),
    ("files are short", check_files),
    ("file names are unique", check_names),
    ("header guards are named after the path", check_guards),
)
COUNTED = (
    ("wide", "lines of scripts are short", f"lines of more than {MAX_WIDE} columns", count_scripts),
    ("folder", "folders are small", f".c files, more than {MAX_FOLDER}", count_folders),
)
