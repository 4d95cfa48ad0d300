# SPDX-License-Identifier: GPL-2.0-or-later
"""Who includes whom: the room table, own headers, headers that stand alone, who prints."""

import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

from check import tree

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
PRINTS = re.compile(r'\b(?:v?printf|puts|putchar|perror)\s*\(|\bstd(?:out|err)\b|<err\.h>')
# compiled by others, outside this tree: by the program's build, by the kernel's
FLAT = ("shim", "kmod")

# registers, instructions, relocations and the like, also in comments
PROCESSOR = re.compile(
    r"\b(?:[er](?:ax|bx|cx|dx|si|di|bp|sp|ip)|r(?:[89]|1[0-5])|[xyz]mm\d*|orig_rax|eflags|[fg]s_base|int3|0xcc"
    r"|EM_(?:X86_64|386|AARCH64|RISCV)|R_X86_64_\w+|__(?:x86_64|amd64|i386|aarch64|riscv)(?:__)?|target_clones)\b"
    r'|__asm__ volatile\("[a-z].*?"|"arch/\w+/')


def check_includes():
    table = tree.rooms()
    for path in tree.product():
        room = tree.room_of(path, table)
        if room is None:
            yield f"{path}: in no room of doc/ARCHITECTURE.md"
            continue
        for name in INCLUDE.findall(tree.text_of(path)):
            if room in FLAT and "/" not in name and os.path.exists(f"{room}/{name}"):
                continue
            if not os.path.exists(name):
                yield f'{path}: "{name}" is not a path from the root'
            elif tree.room_of(name, table) not in table[room]:
                yield f'{path}: room {room} must not include "{name}"'


def check_own_header():
    for path in tree.product():
        own = path[:-2] + ".h"
        first = re.search(r'^\s*#\s*include\s+(\S+)', tree.text_of(path), re.M)
        names = (f'"{own}"', f'"{os.path.basename(own)}"' if path.startswith("kmod/") else None)
        if path.endswith(".c") and os.path.exists(own) and first and first[1] not in names:
            yield f"{path}: its own header comes first"


def check_prints():
    for path in tree.product():
        if path.startswith("src/cmd/"):
            continue
        for number, line in enumerate(tree.code_of(path).split("\n"), 1):
            if PRINTS.search(line):
                yield f"{path}:{number}: only src/cmd prints"


def compiles_alone(path):
    command = ["gcc", "-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-Wno-unused",
               "-fsyntax-only", "-Wno-missing-field-initializers", "-I.", "-Iinclude", "-x", "c",
               "-include", path, "/dev/null"]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        return [f"{path}: does not compile on its own", *run.stderr.splitlines()[:3]]
    return []


def check_alone():
    headers = [path for path in tree.product() if path.endswith(".h") and not tree.needs_kernel(path)]
    with ThreadPoolExecutor(2) as pool:
        for messages in pool.map(compiles_alone, headers):
            yield from messages


def may_name_processors():
    """Paths outside arch/ of the table in doc/ARCHITECTURE.md that says what they know of which processor."""
    table = tree.text_of("doc/ARCHITECTURE.md").partition("\n| file | what it knows of ")[2].partition("\n\n")[0]
    return set(re.findall(r"^\| `([\w/]+\.\w+)` \|", table, re.M))


def check_processors():
    excepted = may_name_processors()
    for path in tree.walk("src", "agent", "shim", ends=(".c", ".h", ".S")):
        found = [] if path in excepted else PROCESSOR.finditer(tree.text_of(path))
        for m in found:
            number = tree.text_of(path).count("\n", 0, m.start()) + 1
            yield f"{path}:{number}: {m[0]!r} belongs to one processor: arch/ has a general word for it, or gets one"
    for path in sorted(excepted):
        if not os.path.exists(path) or not PROCESSOR.search(tree.text_of(path)):
            yield f"doc/ARCHITECTURE.md: {path} names no processor's parts"


CHECKS = (
    ("each room includes only what it may", check_includes),
    ("each file includes its own header first", check_own_header),
    ("only src/cmd prints", check_prints),
    ("words of one processor stay in arch/", check_processors),
    ("each header compiles on its own", check_alone),
)
COUNTED = ()
