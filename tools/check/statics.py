# SPDX-License-Identifier: GPL-2.0-or-later
"""
Variables that outlive a call. src/ has none but the targets of a command's options: objects of src/cmd/ whose address a
table of options (`static const struct opt NAME[]`) of the same file has in it, or a row that is a macro of its header; and
what signal handlers of src/cmd/ share with it (`static volatile sig_atomic_t NAME`), since no caller can hand them anything.
"""

import os
import re

from check import tree

TABLE = re.compile(r'\bstruct opt \w+\[\]\s*=\s*\{(.*?)^\};', re.S | re.M)
ROW = re.compile(r'^#define \w+\([^)]*\)(?:[^\n]*\\\n)*[^\n]*\bOPT_(?:[^\n]*\\\n)*[^\n]*', re.M)
HANDLED = re.compile(r"^static volatile sig_atomic_t (\w+);", re.M)
# declarations of something else than objects, or of objects that are defined elsewhere
NO_OBJECT = re.compile(r"(?:static|extern|typedef|_Static_assert|asm|__asm__)\b|(?:struct|union|enum)\s+\w+\s*$")
ATTRIBUTE = re.compile(r'__attribute__\s*\(\(.*?\)\)|\b(?:inline|_Noreturn|_Thread_local|__thread|volatile)\b')


def declaration(code, at):
    """What `static` at that place declares, up to its initializer or end: brackets are empty then."""
    depth, out = 0, []
    for c in code[at:]:
        if c in ")}]":
            depth -= 1
        if depth == 0 and (c in ";=" or (c == "{" and re.search(r"\)\s*$", "".join(out)))):
            break
        if c in "([{":
            depth += 1
        out.append(c)
    return "".join(out), c


def objects(text):
    """The names of the objects that a declaration (without its end) makes, which may be written to."""
    text = ATTRIBUTE.sub(" ", text)
    text = re.sub(r"\[.*?\]", "", re.sub(r"\{.*\}", "{}", text, flags=re.S))
    pointer = re.match(r"[^(]*\(\s*\*\s*(const\s+)?(\w+)", text)
    if pointer:
        return [] if pointer[1] else [pointer[2]]
    if "(" in text:
        return []  # a function
    name = re.search(r"(\w+)\s*$", text)
    stars = text.rfind("*")
    const = re.search(r"\bconst\b", text[stars + 1:] if stars >= 0 else text)
    return [] if const or not name else [name[1]]


def further(code, at):
    """Names declared after the first one: static int a = 1, b, c[3]."""
    depth, part, parts = 0, [], []
    for c in code[at:]:
        depth += (c in "([{") - (c in ")}]")
        if depth == 0 and c in ",;":
            parts.append("".join(part))
            part = []
            if c == ";":
                break
        else:
            part.append(c)
    names = (re.match(r"\s*\**\s*(\w+)", p) for p in parts[1:])
    return [name[1] for name in names if name]


def outside(code):
    """Where each declaration outside of functions begins that does not say static."""
    depth, begin, text = 0, None, ""
    for at, c in enumerate(code):
        if begin is None and depth == 0 and not c.isspace() and c not in ";}":
            begin = at
        depth += (c in "([{") - (c in ")]}")
        if begin is not None and depth == 0 and (c == ";" or (c == "}" and re.search(r"\)\s*\{", code[begin:at]))):
            text = code[begin:at]
            if not NO_OBJECT.match(text):
                yield begin
            begin = None


def statics(path):
    """(line, name) of each variable of a file that is written to and outlives a call."""
    code = tree.DIRECTIVE.sub(lambda m: tree.blanks(m[0]), tree.code_of(path))
    starts = [(m.start(), m.end()) for m in re.finditer(r"\bstatic\b", code)]
    for start, after in sorted(starts + [(at, at) for at in outside(code)]):
        text, end = declaration(code, after)
        if end == "{" or (end == "=" and "(" in text and not re.search(r"\(\s*\*", ATTRIBUTE.sub(" ", text))
                          and not re.search(r"\{", text)):
            continue
        first = text.split(",")[0] if "{" not in text and "(" not in text else text
        names = objects(first)
        line = code.count("\n", 0, start) + 1
        for name in names + (further(code, after) if names else []):
            yield line, name


def targets(path):
    """Names whose address is in a table of options, or in a row for such tables that the file's header has as a macro."""
    header = path[:-2] + ".h"
    rows = TABLE.findall(tree.code_of(path))
    rows += ROW.findall(tree.code_of(header)) if path.endswith(".c") and os.path.exists(header) else []
    return {name for row in rows for name in re.findall(r"&(\w+)", row)}


def count_statics():
    count = {}
    for path in tree.walk("src", ends=(".c", ".h")):
        known = targets(path) | set(HANDLED.findall(tree.code_of(path))) if path.startswith("src/cmd/") else set()
        names = [name for _, name in statics(path) if name not in known]
        if names:
            count[path] = len(names)
    return count


CHECKS = ()
COUNTED = (("static", "nothing outlives a call but targets of options", "mutable statics", count_statics),)
