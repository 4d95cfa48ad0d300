# SPDX-License-Identifier: GPL-2.0-or-later
"""Headers for a few files only, and headers that include one another in a circle."""

import collections
import os
import re

from check import tree
from check.rooms import INCLUDE

PRIVATE = "_priv.h"
OTHER = re.compile(r"_(?:parts?|state|internal|intern|impl|private|local|own)\.h$")


def check_suffix():
    for path in tree.built():
        if OTHER.search(path):
            yield f"{path}: a header for a few files is called NAME{PRIVATE}"


def count_private():
    """Private headers that a file includes from elsewhere than its own folder and those above it."""
    count = collections.Counter()
    for path in tree.product():
        for name in INCLUDE.findall(tree.text_of(path)):
            if name.endswith(PRIVATE) and not path.startswith(os.path.dirname(name)):
                count[path] += 1
    return count


def reaches(graph, start):
    """All that can be reached from a node, over one edge at least."""
    found, todo = set(), list(graph.get(start, ()))
    while todo:
        node = todo.pop()
        if node not in found:
            found.add(node)
            todo.extend(graph.get(node, ()))
    return found


def circles(graph):
    """Sets of nodes that reach one another."""
    all_of = {node: reaches(graph, node) for node in graph}
    done = set()
    for node in sorted(graph):
        circle = {other for other in all_of[node] if node in all_of.get(other, ())}
        if node in circle and node not in done:
            done |= circle
            yield sorted(circle)


def check_circles():
    """Headers of a room that need one another are one header in pieces."""
    graph = {path: {name for name in INCLUDE.findall(tree.text_of(path)) if os.path.exists(name)}
             for path in tree.product() if path.endswith(".h")}
    for circle in circles(graph):
        yield f"{circle[0]}: includes itself by way of {' '.join(circle[1:]) or 'nothing else'}"


CHECKS = (
    ("private headers have one suffix", check_suffix),
    ("no header includes itself", check_circles),
)
COUNTED = (("private", "private headers are private", "private headers of other folders", count_private),)
