# SPDX-License-Identifier: GPL-2.0-or-later
"""
What pages for developers name is there: files, functions with `()`, and names in backquotes that have an underscore. NAME, FORM and PROCESSOR
in a name match any; what is below doc/ or include/, and a base name, will do for a path.
"""

import fnmatch
import os
import re

from check import tree

PAGES = ("doc/ARCHITECTURE.md", "doc/HOWTO.md", "doc/agent.md", "CONTRIBUTING.md")
FILE = re.compile(r"(?<![\w/.<*-])[\w*-][\w*./-]*\.(?:c|h|S|py|bats|bash|t|build|md)(?![\w.])")
FUNCTION = re.compile(r"(?<![\w.>])([A-Za-z_]\w+)\(\)")
QUOTED = re.compile(r"`(?:struct |enum |union )?([A-Za-z]\w*_\w+)`")
ANY = re.compile(r"NAME|FORM|PROCESSOR")
SKIPPED = re.compile(r"\.git$|__pycache__|build")


def files():
    """Paths of all files of the tree."""
    for folder, folders, names in os.walk("."):
        folders[:] = [f for f in folders if not SKIPPED.match(f)]
        for name in names:
            yield os.path.relpath(os.path.join(folder, name), ".")


def is_file(name, paths, page):
    if ANY.search(name):
        return True
    if "*" in name:
        return any(fnmatch.fnmatch(path, pattern) for path in paths for pattern in (name, "*/" + name))
    places = (name, f"include/{name}", os.path.join(os.path.dirname(page), name))
    return any(place in paths for place in places) or ("/" not in name and name in {os.path.basename(p) for p in paths})


def check_names():
    paths, words = None, None
    for page in PAGES:
        if not os.path.exists(page):
            continue
        if paths is None:
            paths = set(files())
            code = [p for p in paths if p.endswith((".c", ".h", ".S", ".py", ".bash", ".bats"))]
            words = {word for p in code
                     for word in re.findall(r"\w+", tree.code_of(p) if p.endswith((".c", ".h")) else tree.text_of(p))}
        for number, line in enumerate(tree.text_of(page).splitlines(), 1):
            for name in FILE.findall(line):
                if not is_file(name, paths, page):
                    yield f"{page}:{number}: {name} is not there"
            for name in FUNCTION.findall(line) + QUOTED.findall(line):
                if name not in words and not ANY.search(name):
                    yield f"{page}:{number}: nothing is called {name}"


CHECKS = (("what pages for developers name is there", check_names),)
COUNTED = ()
