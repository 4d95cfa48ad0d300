# SPDX-License-Identifier: GPL-2.0-or-later
"""
Files that call one another in a circle: none of them can be understood, moved or tested without the others. NAME.c and NAME.h are one
file here. What is called through a pointer does not count, nor does a function that several files define: the agent's forms each bring
their own.
"""

import collections
import functools
import re

from check import tree
from check.headers import circles

ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)")
BODY = re.compile(r"^\{$.*?^\}", re.M | re.S)
HEAD = re.compile(r"(\w+)\s*\([^;{}]*\)\s*$")
MACRO = re.compile(r"\s*#\s*define\s+(\w+)(.*)", re.S)
CALL = re.compile(r"(?<![\w.>])([A-Za-z_]\w*)\s*\(")
POINTER = re.compile(r"\(\s*\*\s*(\w+)\s*\)\s*\(")


def functions(path):
    """(name, is it static, what it calls) of each function and macro of a file."""
    code = ATTRIBUTE.sub(" ", tree.code_of(path))
    pointers = set(POINTER.findall(code))
    for directive in tree.DIRECTIVE.findall(code):
        macro = MACRO.match(directive)
        if macro:
            yield macro[1], True, set(CALL.findall(macro[2])) - pointers
    code = tree.DIRECTIVE.sub("", code)
    end = 0
    for body in BODY.finditer(code):
        before = code[max(end, code.rfind(";", end, body.start()) + 1):body.start()]
        head = HEAD.search(before)
        end = body.end()
        if head:
            yield head[1], "static" in before.split(), set(CALL.findall(body[0])) - pointers


def graph_of(paths):
    """file -> file that it calls -> one of the functions. paths: of what is linked as one, no name has two meanings there."""
    homes, own, calls = (collections.defaultdict(set) for _ in range(3))
    for path in paths:
        name = path[:-2]
        for function, static, called in functions(path):
            own[name].add(function)
            calls[name] |= called
            if not static or path.endswith(".h"):
                homes[function].add(name)
    graph = {name: {} for name in own}
    for name, called in calls.items():
        for function in sorted(called - own[name]):
            if len(homes[function]) == 1:
                graph[name].setdefault(*homes[function], function)
    return graph


def shortest(graph, start):
    """The calls that lead from a file back to it, as text."""
    todo = collections.deque([(start, ())])
    seen = set()
    while todo:
        name, way = todo.popleft()
        for home, function in graph[name].items():
            if home == start:
                return ", ".join((*way, f"{function}() of {home}"))
            if home not in seen:
                seen.add(home)
                todo.append((home, (*way, f"{function}() of {home}")))


@functools.cache
def found():
    """first file of a circle -> (how many there are, how it calls itself)"""
    graph = {**graph_of(tree.walk("src")), **graph_of(tree.walk("agent", "shim"))}
    return {circle[0]: (len(circle), shortest(graph, circle[0])) for circle in circles(graph)}


def count_circles():
    return {name: number for name, (number, _) in found().items()}


def what(name):
    return "files in a circle of calls" + (f": {found()[name][1]}" if name in found() else "")


CHECKS = ()
COUNTED = (("calls", "no file calls itself by way of others", what, count_circles),)
