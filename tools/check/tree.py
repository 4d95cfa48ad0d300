# SPDX-License-Identifier: GPL-2.0-or-later
"""The source tree as the checks see it: which files there are, and C without comments and literals."""

import fnmatch
import os
import re

PRODUCT = ("agent", "arch", "include", "kmod", "shim", "src")
# C that is built as one: names are unique in it, and its style is the product's
BUILT = PRODUCT + ("tests/unit", "tests/fuzz", "tests/tool", "tests/fake", "bench")
# programs that pmm is tried on, each a main() of its own
PROGRAMS = ("examples", "tests/prog", "tests/shim", "tests/bugs")

LITERAL = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
DIRECTIVE = re.compile(r'^[ \t]*#(?:[^\n]*\\\n)*[^\n]*', re.M)
texts, codes = {}, {}


def blanks(text):
    return re.sub(r"[^\n\t]", " ", text)


def text_of(path):
    if path not in texts:
        with open(path, encoding="utf-8", errors="replace") as file:
            texts[path] = file.read()
    return texts[path]


def code_of(path):
    """The text with comments and what is between quotes blank: the same lines, the same columns."""
    def inside(m):
        s = m[0]
        return blanks(s) if s.startswith("/") else s[0] + blanks(s[1:-1]) + s[-1]
    if path not in codes:
        codes[path] = LITERAL.sub(inside, text_of(path))
    return codes[path]


def strings_of(path):
    """[(line, text)] of a C file's string literals; literals that follow each other are one."""
    found, end, text = [], None, text_of(path)
    skip = [m.span() for m in re.finditer(r'^[ \t]*#[ \t]*include[^\n]*', text, re.M)]
    for m in LITERAL.finditer(text):
        if not m[0].startswith('"') or any(a <= m.start() < b for a, b in skip):
            continue
        if end is not None and not text[end:m.start()].strip():
            found[-1] = (found[-1][0], found[-1][1] + m[0][1:-1])
        else:
            found.append((text.count("\n", 0, m.start()) + 1, m[0][1:-1]))
        end = m.end()
    return found


def walk(*tops, ends=(".c", ".h")):
    """Paths of the files below these folders, sorted."""
    for top in tops:
        for folder, folders, names in os.walk(top):
            folders.sort()
            for name in sorted(names):
                if name.endswith(ends) and not name.endswith(".mod.c"):  # which the kernel's build makes
                    yield os.path.join(folder, name)


def product():
    return list(walk(*PRODUCT))


def built():
    return list(walk(*BUILT))


UNLICENSED = re.compile(r"\.git$|LICENSE|LICENSES/|tests/fuzz/corpus/"
                        r"|doc/pictures/[^/]*\.png$|tests/cli/golden/[^/]*\.(txt|jsonl)$|web/package\.json$|tests/shim/[^/]*\.(table|full)$")


KERNEL_ONLY = re.compile(r"^[ \t]*#[ \t]*ifdef __KERNEL__$.*?^[ \t]*#[ \t]*(?:else|endif)\b", re.M | re.S)
KERNEL_HEADER = re.compile(r"^[ \t]*#[ \t]*include[ \t]+<(?:linux|asm|net|crypto|trace|uapi)/", re.M)
FLAT = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"(\w+\.h)"', re.M)


def needs_kernel(path):
    """Is this a file of kmod/ that only the kernel's build compiles? It includes headers of the kernel, or others of kmod/ that do."""
    if not path.startswith("kmod/"):
        return False
    text = KERNEL_ONLY.sub("", text_of(path))
    return bool(KERNEL_HEADER.search(text)) or any(
        needs_kernel(other) for other in ("kmod/" + name for name in FLAT.findall(text)) if other != path and os.path.exists(other))


def made():
    """Patterns of .gitignore, each from the top: what builds and the tour make."""
    if not os.path.exists(".gitignore"):
        return []
    return [line[1:] for line in text_of(".gitignore").splitlines() if line.startswith("/")]


def licensed():
    """Paths of all files that have to name their licence."""
    ignored = made()
    for folder, folders, names in os.walk("."):
        folders[:] = sorted(f for f in folders
                            if f not in (".git", "__pycache__") and not f.startswith("build"))
        for name in sorted(names):
            path = os.path.relpath(os.path.join(folder, name), ".")
            if name.startswith(".") and name.endswith(".log"):
                continue
            if any(fnmatch.fnmatch(path, pattern) for pattern in ignored):
                continue
            if not UNLICENSED.match(path) and not name.endswith(".pyc"):
                yield path


def rooms():
    """Room -> rooms it may include, from the table in doc/ARCHITECTURE.md."""
    table = {}
    for line in text_of("doc/ARCHITECTURE.md").splitlines():
        row = re.match(r'\| `([\w/]+)/` \| ([^|]*)\|', line)
        if row:
            table[row[1]] = set(re.findall(r'`([\w/]+)/`', row[2])) | {row[1]}
    return table


def room_of(path, table):
    """The room a path belongs to: the longest name of a row that it begins with."""
    found = [room for room in table if path.startswith(room + "/")]
    return max(found, key=len) if found else None
