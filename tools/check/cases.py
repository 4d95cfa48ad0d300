# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests: statements that assert nothing."""

import os
import re

from check import tree

STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
SHELL_STRING = re.compile(r"\[\[ .*? ]]|'[^']*'|" + STRING.pattern)


def check_statements():
    """What bash's -e leaves alone: '! A', and A in 'A && B', unless it is the last of a function."""
    for path in tree.walk("tests/cli", ends=(".bats", ".bash")):
        lines = tree.text_of(path).split("\n")
        for number, (line, then) in enumerate(zip(lines, lines[1:]), 1):
            code = SHELL_STRING.sub("S", line).strip()
            ignored = code.startswith("! ") or (
                re.match(r"\[|diff |cmp |grep |checked ", code) and "&&" in code)
            if (ignored and "||" not in code and then.strip() != "}"
                    and not code.endswith(("\\", "&&", "|"))):
                yield f"{path}:{number}: bash continues when that is false"


CHECKS = (("no statement of a test is true whatever it finds", check_statements),)
COUNTED = ()
