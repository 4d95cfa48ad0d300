#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""leak_sums.py SOURCE WAY RESULT: compare what a search for leaks found in a victim with what its first comment says must be found.

RESULT is `pmm leaks --json` or memcheck's XML. WAY (live, exit, attach, memcheck, tagged, plain, ...) chooses among the expectations of a
line: "FUNCTION [WAY:]CLASS=BLOCKS/BYTES ...", "CLASS=+" (some), "CLASS=*" (some or none), "any". Those with a WAY count instead of
those without. Blocks belong to the innermost function listed that is in the stack that made them. Prints a line for each difference.

leak_sums.py --total RESULT: print "definite BLOCKS/BYTES indirect BLOCKS/BYTES possible BLOCKS/BYTES" of all that was found.
"""

import json
import re
import sys
import xml.etree.ElementTree

CLASSES = ("definite", "indirect", "possible", "reachable")
MEMCHECK = {"Leak_DefinitelyLost": "definite", "Leak_IndirectlyLost": "indirect",
            "Leak_PossiblyLost": "possible", "Leak_StillReachable": "reachable"}


def expected(source, ways):
    """Function -> its expectations for the first of these ways that has any, else those without a way."""
    comment = open(source).read().split("*/")[0]
    lines = re.findall(r"^ \*   (\S+) +(.+)$", comment.split("* expect:")[1], re.M)
    out = {}
    for function, words in lines:
        by_way = {}
        for word in words.split():
            way, _, what = word.rpartition(":")
            by_way.setdefault(way, []).append(what)
        out[function] = next((by_way[way] for way in ways + [""] if way in by_way), [])
    return out


def plain(name):
    return re.sub(r"\(.*|.*::", "", name or "")


def found_by_memcheck(path):
    for error in xml.etree.ElementTree.parse(path).getroot().findall("error"):
        kind = MEMCHECK.get(error.findtext("kind"))
        if kind:
            what = error.find("xwhat")
            stack = [plain(frame.findtext("fn")) for frame in error.find("stack").findall("frame")]
            direct = re.search(r"\(([\d,]+) direct", what.findtext("text"))
            bytes_ = direct[1].replace(",", "") if direct else what.findtext("leakedbytes")
            yield kind, int(what.findtext("leakedblocks")), int(bytes_), stack


def found_by_pmm(path):
    report = json.load(open(path))
    for verdict in ("certain", "likely", "growing", "unlikely", "suppressed"):
        for entry in report.get(verdict) or []:
            yield entry["class"], entry["blocks"], entry["bytes"], [plain(f.get("function")) for f in entry["frames"]]


def sums(found, functions):
    out = {function: {} for function in functions}
    for kind, blocks, bytes_, stack in found:
        function = next((name for name in stack if name in out), None)
        if function:
            before = out[function].get(kind, (0, 0))
            out[function][kind] = (before[0] + blocks, before[1] + bytes_)
    return out


def differs(what, actual):
    if what == ["any"]:
        return False
    loose = {word[:-2]: word[-1] for word in what if word[-1] in "+*"}
    if loose:
        return not set(actual) <= set(loose) or any(sign == "+" and kind not in actual for kind, sign in loose.items())
    return actual != {word.split("=")[0]: tuple(map(int, word.split("=")[1].split("/"))) for word in what}


def found_in(result):
    return found_by_memcheck(result) if open(result).read(5) == "<?xml" else found_by_pmm(result)


def total(result):
    sum_ = {kind: [0, 0] for kind in CLASSES}
    for kind, blocks, bytes_, _ in found_in(result):
        sum_[kind][0] += blocks
        sum_[kind][1] += bytes_
    print(" ".join(f"{kind} {sum_[kind][0]}/{sum_[kind][1]}" for kind in CLASSES[:3]))


def main():
    if sys.argv[1] == "--total":
        return total(sys.argv[2])
    source, way, result = sys.argv[1:]
    want = expected(source, way.split(","))
    found = found_in(result)
    actual = sums(found, want)
    if not want:
        print("nothing is expected")
    for function, what in want.items():
        if differs(what, actual[function]):
            is_ = " ".join(f"{c}={'%d/%d' % actual[function][c]}" for c in CLASSES if c in actual[function])
            print(f"{function}: found {is_ or 'nothing'}, must be {' '.join(what)}")


main()
