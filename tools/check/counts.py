# SPDX-License-Identifier: GPL-2.0-or-later
"""
What breaks a rule since before there was the rule: tools/check/known, a line "RULE PATH NUMBER" each. The number must be the one
that is counted: a higher one is an offence, a lower one has to be written down. The table only gets shorter.
"""

import os

KNOWN = "tools/check/known"


def read():
    """(rule, path) -> number"""
    table = {}
    if os.path.exists(KNOWN):
        for line in open(KNOWN, encoding="utf-8"):
            words = line.split("#")[0].split()
            if words:
                table[words[0], words[1]] = int(words[2])
    return table


def check(rule, what, count):
    """Compare what was counted (path -> number) with what is known. what: its name, or what gives that for a path."""
    known = {path: n for (of, path), n in read().items() if of == rule}
    for path in sorted(known.keys() | count.keys()):
        now, then = count.get(path, 0), known.get(path, 0)
        name = what(path) if callable(what) else what
        if now > then and not then:
            yield f"{path}: {now} {name}"
        elif now > then:
            yield f"{path}: {now} {name}; {then} are known"
        elif now < then:
            yield (f"{path}: {now} {name}, fewer than the {then} of {KNOWN}: "
                   "tools/check-layers --shrink")


def shrink(counted):
    """Write the lower numbers down. counted: rule -> path -> number."""
    lines = []
    for line in open(KNOWN, encoding="utf-8"):
        words = line.split("#")[0].split()
        if words and words[0] in counted:
            now = min(int(words[2]), counted[words[0]].get(words[1], 0))
            if not now:
                continue
            line = line.replace(f"{words[1]} {words[2]}", f"{words[1]} {now}", 1)
        lines.append(line)
    with open(KNOWN, "w", encoding="utf-8") as file:
        file.writelines(lines)
