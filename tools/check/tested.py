# SPDX-License-Identifier: GPL-2.0-or-later
"""
Which unit test tests a file: test_NAME.c that of NAME.c; those that its first comment names ("Also of ..."); those that tests/unit/meson.build
compiles into it. tools/check/untested, a line "PATH TEST..." each, has the files that none does, with the tests of the command line that do.
What only a kernel runs (tree.needs_kernel()) is tested in guests.
"""

import os
import re

from check import tree

UNTESTED, BUILD = "tools/check/untested", "tests/unit/meson.build"
SOURCE = re.compile(r"[\w/]+\.[chS]\b")


def named(path):
    """Files that the comment which says what a unit test is names: with or without their folder, names are unique."""
    comment = re.search(r"/\*(?! SPDX)(.*?)\*/", tree.text_of(path), re.S)
    return SOURCE.findall(comment[1]) if comment else []


def check_named():
    known = {os.path.basename(path) for path in tree.built()}
    for path in tree.walk("tests/unit", ends=(".c",)):
        for name in named(path):
            if not (os.path.exists(name) if "/" in name else name in known):
                yield f"{path}: tests {name}, which is not there"


def untested():
    """path -> tests"""
    table = {}
    if os.path.exists(UNTESTED):
        for line in open(UNTESTED, encoding="utf-8"):
            words = line.split("#")[0].split()
            if words:
                table[words[0]] = words[1:]
    return table


def tested():
    """The base names of files that a unit test tests."""
    names = {os.path.basename(name) for name in SOURCE.findall(tree.text_of(BUILD))}
    names |= {os.path.basename(path)[len("test_"):] for path in tree.walk("tests/unit", ends=(".c",))}
    for path in tree.walk("tests/unit", ends=(".c",)):
        names |= {os.path.basename(name) for name in named(path)}
    return names


def is_built(path):
    """Not a file that is not compiled yet."""
    build = "/".join(path.split("/")[:2]) + "/meson.build"
    return not os.path.exists(build) or f"{os.path.basename(path)}'" in tree.text_of(build)


def check_tested():
    if not os.path.exists(BUILD):
        return
    names, table = tested(), untested()
    for path in tree.walk("src", "agent", "kmod", ends=(".c",)):
        if tree.needs_kernel(path):
            continue
        if os.path.basename(path) in names:
            if path in table:
                yield f"{UNTESTED}: {path} has a unit test"
        elif path not in table and is_built(path):
            yield f'{path}: no unit test names it: "Also of {path}"'
    for path, tests in table.items():
        if not os.path.exists(path):
            yield f"{UNTESTED}: {path} is not there"
        if not tests or not all(os.path.exists(test) for test in tests):
            yield f"{UNTESTED}: {path} has no test that is there"


CHECKS = (
    ("what unit tests say they test is there", check_named),
    ("each source has a unit test or says what else tests it", check_tested),
)
COUNTED = ()
