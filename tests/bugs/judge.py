# SPDX-License-Identifier: GPL-2.0-or-later
"""What was found of a bug, against what it is: type, place, block, the functions of its stacks."""

from dataclasses import dataclass, field

from cases import CRASHES

TYPES = {
    "double-free": lambda c: {"realloc-after-free"} if c.release == "realloc" else {"double-free"},
    "bad-free": lambda c: {"bad-free", "double-free"} if c.place == "middle of a freed one" else {"bad-free"},
}
PLACES = {"stack": "stack", "alloca": "stack", "global": "static", "constant": "static", "unmapped": "unmapped", "code": "static", "middle": "inside"}


@dataclass
class Verdict:
    """found: some finding is of this bug. wrong: what is not right about the best of them. foreign: findings that are of no part of it."""
    found: bool = False
    by: str = ""
    wrong: list = field(default_factory=list)
    again: int = 0
    foreign: list = field(default_factory=list)

    @property
    def right(self):
        return self.found and not self.wrong and not self.foreign


def stack(finding, which):
    return {f.get("function", "?").partition("(")[0] for f in finding["frames"] if f["stack"] == which}


def span(case):
    """The bytes that are accessed wrongly, from the block's start."""
    if case.kind == "overrun":
        last = case.size + 16 if case.way.string else case.at + case.length
        return max(case.at, case.size), last
    if case.kind == "underrun":
        return case.at, min(case.at + case.length, 0)
    return case.at, case.at + case.length


def wrong_block(case, f):
    """What a finding says of the block that is not so."""
    if "block_bytes" not in f:
        yield "no block"
        return
    if f["block_bytes"] != case.size:
        yield f"block of {f['block_bytes']} bytes"
    if case.entry.kind not in ("*", f.get("kind")):
        yield f"kind {f.get('kind')}"
    if f"make_{case.number}" not in stack(f, "allocated"):
        yield "allocated it is not known where" if "parent_pid" in f and not stack(f, "allocated") else "allocated elsewhere"


def wrong_access(case, f):
    if "block_address" not in f:
        return
    first, end = span(case)
    if case.way.by == "library" or case.way.string and f["by"] == "access":  # in whole vectors, and on to where it finds what it looks for
        first, end = first - 32, end + (4096 if case.way.string else 32)
    at = int(f["address"], 16) - int(f["block_address"], 16)
    if not first <= at < end:
        yield f"at {at}, not in [{first}, {end})"
    if case.way.access != "both" and f.get("access") != case.way.access:
        yield f"{f.get('access')}"
    if f["by"] == "function" and case.way.calls and f.get("function_called") != case.way.calls:
        yield f"in {f.get('function_called')}"


def wrong_crash(case, f):
    place, signal, access = CRASHES[case.place]
    if f.get("signal") != signal:
        yield f"signal {f.get('signal')}"
    if place and f.get("place") != place:
        yield f"place {f.get('place')}"
    if access and f.get("access") not in (access, None if place == "no-address" else access):
        yield f"{f.get('access')}"
    if f"act_{case.number}" not in stack(f, "error"):
        yield "stack"


def wrong(case, f):
    """All that is wrong about a finding, were it of this bug."""
    types = TYPES.get(case.kind, lambda c: {c.kind})(case)
    if f["type"] not in types:
        yield f["type"]
    act = f"act_{case.number}"
    if case.kind == "stack-overflow":
        if not stack(f, "error") & {act, f"deeper_{case.number}"}:
            yield "stack"
        return
    if f["by"] in ("access", "function") and case.kind != "crash" and act not in stack(f, "error"):
        yield "stack"
    if case.kind == "size":
        return
    if case.kind == "crash":
        yield from wrong_crash(case, f)
        return
    if case.kind == "bad-free" and case.place in PLACES and not (case.flow == "altstack" and PLACES[case.place] == "stack") and f.get("place") != PLACES[case.place]:
        yield f"place {f.get('place')}"
    if case.kind != "bad-free" or case.place == "middle":
        yield from wrong_block(case, f)
    if case.way:
        yield from wrong_access(case, f)
    if case.kind == "overlap" and f.get("function_called") != case.place:
        yield f"in {f.get('function_called')}"
    if case.kind == "use-after-free" and case.freed in ("", "in another thread") and f"drop_{case.number}" not in stack(f, "freed"):
        yield "freed elsewhere"


def judge(case, findings, kinds=True):
    """kinds: is it known which function allocated (with pmm attach, only the last one below it is)?"""
    v = Verdict()
    told = [([w for w in wrong(case, f) if kinds or not w.startswith("kind ")], f) for f in findings]
    own = [(w, f) for w, f in told if f["type"] == "crash" or "allocated elsewhere" not in w or stack(f, "error") & {f"act_{case.number}", f"deeper_{case.number}"}]
    if own:
        w, f = min(own, key=lambda x: len(x[0]))
        v.found, v.by, v.wrong, v.again = True, f["by"], w, len(own) - 1
    v.foreign = [f for x in told if x not in own for f in [x[1]]]
    return v
