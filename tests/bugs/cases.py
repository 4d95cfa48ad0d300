# SPDX-License-Identifier: GPL-2.0-or-later
"""Which bugs there are: drawn from the axes of ways.py by a seed, each different from the others, the same ones each time."""

import random
from dataclasses import dataclass, field

from ways import ENTRIES, FLOWS, FLOWS_CXX, OFFSETS, PAIRS, RELEASES, SIZES, WAYS, pairs

# How many of each hundred.
SHARES = {"overrun": 32, "underrun": 18, "use-after-free": 24, "double-free": 7, "bad-free": 8, "mismatched-free": 6, "overlap": 4, "size": 2,
          "stack-overflow": 1, "crash": 2}


@dataclass
class Case:
    """One bug. Offsets are from the block's start."""
    number: int
    kind: str
    cxx: bool
    opt: str
    flow: str
    whole: bool
    company: bool
    entry: object = None
    size: int = 0
    way: object = None
    at: int = 0
    length: int = 0
    right_at: int = 0
    right_length: int = 0
    keep: bool = False
    smaller: bool = False  # the block is too small for what it is used as, instead of the access too far
    freed: str = ""  # how it was released before
    between: str = ""  # what happened since
    release: str = ""
    place: str = ""
    delta: int = 0
    extra: dict = field(default_factory=dict)

    def key(self):
        d = {k: v for k, v in vars(self).items() if k not in ("number", "extra", "way", "entry")}
        return repr((sorted(d.items(), key=str), self.way and self.way.name, self.entry and self.entry.name))

    def name(self):
        """What it is, in a line."""
        what = [self.kind]
        if self.way:
            what.append(f"{self.way.name} [{self.at}, {self.at + self.length})")
        what += [w for w in (self.freed, self.between, self.release, self.place, "too small" if self.smaller else "") if w]
        if self.delta:
            what.append(f"by {self.delta}")
        if self.entry:
            what.append(f"of {self.size} bytes of {self.entry.name}")
        what += ["kept"] if self.keep else []
        return ", ".join(what + [self.flow + ("" if self.whole else " (act)"), ("C++" if self.cxx else "C") + " -" + self.opt])


class Bags:
    """Choices that are all made before one is made again."""

    def __init__(self, rng):
        self.rng, self.bags = rng, {}

    def draw(self, name, values):
        bag = self.bags.get(name)
        if not bag:
            bag = self.bags[name] = list(values)
            self.rng.shuffle(bag)
        return bag.pop()


def entry_for(bags, rng, cxx, kind, only=lambda e: True):
    """An entry and a size that it can have. A program in C++ has those of C, too."""
    while True:
        entry = bags.draw(f"entry {cxx} {kind}", [e for e in ENTRIES if cxx or not e.cxx])
        if cxx and not entry.cxx and rng.random() < 0.7 or not only(entry):
            continue
        size = bags.draw("size", SIZES) if rng.random() < 0.8 else rng.randrange(1, 300)
        size = max(entry.least, -(-max(1, size) // entry.unit) * entry.unit)
        return entry, entry.fixed or min(size, entry.most)


def fits(way, entry, size):
    """May a correct access of that way be made to such a block?"""
    room = size - entry.lead
    least = max(way.width, way.least, way.unit)
    return room >= least and (way.unit == 1 or room % way.unit == 0 and entry.lead % way.unit == 0)


def up(n, unit):
    return -(-n // unit) * unit


def overrun(case, rng, off):
    """Where a bug behind the end lies; false: not with this way."""
    way, n, lead = case.way, case.size, case.entry.lead
    if way.string:
        start = lead + rng.randrange(0, max(1, (n - lead - 1) // way.unit)) // way.unit * way.unit if rng.random() < 0.3 else lead
        start = up(start, way.unit) if start < n else lead
        case.at = case.right_at = start
        case.length, case.right_length = n - start + way.unit, n - start
    elif way.width:
        w = way.width
        straddles = w > 1 and off < w and rng.random() < 0.4
        case.at = n - w + off if straddles else n + off - 1
        case.at, case.right_at = up(case.at, way.unit), (n - w) // way.unit * way.unit
        case.length = case.right_length = w
        case.smaller = case.right_at >= lead and case.entry.plain and case.entry.make.startswith(("malloc(", "calloc", "operator new(")) and rng.random() < 0.3
        if case.smaller:
            case.right_at = case.at
    elif way.inside or rng.random() < 0.7:
        start = lead if rng.random() < 0.6 else rng.randrange(lead, n)
        case.at = case.right_at = start // way.unit * way.unit
        case.right_length = n - case.at
        case.length = case.right_length + up(off, way.unit)
    else:
        m = up(max(way.least, rng.choice([1, 2, 3, 4, 8, 16])), way.unit)
        case.at, case.right_at = n + up(off - 1, way.unit), n - m
        case.length = case.right_length = m
    return case.right_at >= lead and case.right_length >= max(way.least, 1) and case.length <= way.most


def underrun(case, rng, off):
    way, lead = case.way, case.entry.lead
    if way.string or way.inside:
        return False
    if way.width:
        w = way.width
        straddles = w > 1 and off < w and not lead and rng.random() < 0.4
        case.at = -off if straddles else -(off + w - 1)
        case.at = case.at // way.unit * way.unit
        case.length = case.right_length = w
    elif not lead and rng.random() < 0.5:  # into the block
        case.at = -up(off, way.unit)
        case.right_length = up(rng.randrange(1, case.size - case.size // 2 + 1), way.unit)
        case.length = case.right_length - case.at
    else:
        m = up(max(way.least, rng.choice([1, 2, 3, 4, 8, 16])), way.unit)
        case.at = -up(off + m - 1, way.unit)
        case.length = case.right_length = min(m, case.size - lead) // way.unit * way.unit
        if case.length < max(way.least, way.unit):
            return False
    case.right_at = lead
    return case.right_at + case.right_length <= case.size and case.length <= way.most


def draw_beside(case, bags, rng):
    while True:
        case.entry, case.size = entry_for(bags, rng, case.cxx, case.kind)
        case.way = bags.draw(f"way {case.kind}", WAYS)
        off = bags.draw(f"off {case.kind}", OFFSETS)
        if not fits(case.way, case.entry, case.size):
            continue
        if case.flow == "busy" and case.size + off > 5000:
            continue
        case.smaller = False
        if (overrun if case.kind == "overrun" else underrun)(case, rng, off):
            break
    case.company = case.company or off > 60
    case.keep = rng.random() < 0.15 and case.entry.plain and case.flow not in ("fork", "loop", "busy")


FREED = ["", "", "", "in another thread", "by realloc that moved it", "by realloc that shrank it", "by realloc to nothing"]
BETWEEN = ["", "", "", "5 others", "200 others", "taken again", "3 MiB of others"]


def draw_freed(case, bags, rng):
    while True:
        case.entry, case.size = entry_for(bags, rng, case.cxx, case.kind)
        case.way = bags.draw(f"way {case.kind}", WAYS)
        lead = case.entry.lead
        if not fits(case.way, case.entry, case.size):
            continue
        if case.way.width:
            last = case.size - case.way.width - lead
            case.at = lead + (rng.randrange(0, last + 1) if rng.random() < 0.7 else 0) // case.way.unit * case.way.unit
            case.length = case.way.width
        else:
            case.at = lead + (rng.randrange(0, case.size - lead) // 2 if rng.random() < 0.5 else 0) // case.way.unit * case.way.unit
            most = case.size - case.at
            case.length = most if case.way.string or case.way.inside or rng.random() < 0.4 else up(rng.randrange(1, most + 1), case.way.unit)
        if max(case.way.least, case.way.unit) <= case.length <= case.way.most and (case.at - lead) % case.way.unit == 0:
            break
    case.right_at, case.right_length = case.at, case.length
    case.freed = rng.choice(FREED)
    if case.entry.grows and rng.random() < 0.6:
        case.freed = "by its owner that grew"
    elif "realloc" in case.freed and not ("free" in pairs(case.entry) and case.entry.plain) or "realloc to nothing" in case.freed and case.size < 2:
        case.freed = ""
    case.between = rng.choice(BETWEEN)
    if case.flow == "busy":
        case.between = ""


def owned_by_program(e):
    return e.plain


def draw_double(case, bags, rng):
    case.entry, case.size = entry_for(bags, rng, case.cxx, case.kind, owned_by_program)
    c = "free" in pairs(case.entry)
    case.freed = rng.choice(["", "", "in another thread"] + ["by realloc to nothing", "by realloc that moved it"] * c)
    case.between = rng.choice(BETWEEN)
    case.release = "realloc" if c and rng.random() < 0.25 else case.entry.drop
    if case.flow == "busy":
        case.between = ""


PLACES = ["middle", "middle", "middle", "one past the end", "before the start", "stack", "alloca", "global", "constant", "thread-local", "unmapped",
          "code", "mapped", "middle of a freed one"]


def draw_bad(case, bags, rng):
    while True:
        case.entry, case.size = entry_for(bags, rng, case.cxx, case.kind, owned_by_program)
        case.place = bags.draw("place", PLACES)
        if "middle" in case.place and case.size < 2:
            continue
        break
    if "middle" in case.place:
        case.delta = rng.choice([d for d in (1, 4, 8, 16, 24, 32, case.size // 2, case.size - 1) if 0 < d < case.size])
    elif case.place == "one past the end":
        case.delta = case.size
    elif case.place == "before the start":
        case.delta = -rng.choice([1, 8, 16, 32])
    c = "free" in pairs(case.entry)
    case.release = "realloc" if c and rng.random() < 0.2 else case.entry.drop


def draw_mismatch(case, bags, rng):
    case.cxx = True
    if case.flow in FLOWS and case.flow not in FLOWS_CXX:
        case.flow = "straight"
    while True:
        case.entry, case.size = entry_for(bags, rng, True, case.kind, owned_by_program)
        case.release = bags.draw("release", RELEASES)
        case.delta = rng.choice([-1, 1, 8, 64, -8]) if "other-size" in case.release else 0
        wrong = case.release not in pairs(case.entry)
        if wrong and case.size + case.delta > 0:
            return


OVERLAPS = ["memcpy", "mempcpy", "memccpy", "strcpy", "stpcpy", "strncpy", "strcat", "wmemcpy", "wcscpy"]


def draw_overlap(case, bags, rng):
    case.entry, _ = entry_for(bags, rng, case.cxx, case.kind, lambda e: not e.fixed and not e.lead)
    case.size = up(rng.choice([64, 100, 200, 256, 1000, 4096, 10000, 512]), max(case.entry.unit, 4))
    case.size = max(case.size, up(case.entry.least, max(case.entry.unit, 4)))
    case.place = bags.draw("overlap", OVERLAPS)
    unit = 4 if case.place.startswith("w") else 1
    most = case.size // 2 // unit * unit
    case.length = rng.randrange(3 * unit, most, unit)
    case.delta = rng.choice([d for d in (unit, 4, 8, 16, case.length // 2 // unit * unit, case.length - unit) if 0 < d < case.length - 1])
    if case.place != "strcat" and "str" not in case.place and "wcs" not in case.place and rng.random() < 0.5:
        case.delta = -case.delta


REQUESTS = ["malloc", "calloc", "calloc-overflow", "realloc", "reallocarray-overflow", "memalign", "posix_memalign", "aligned_alloc", "valloc",
            "operator new", "operator new[]", "operator new-nothrow"]


def draw_size(case, bags, rng):
    case.place = bags.draw(f"request {case.cxx}", [r for r in REQUESTS if case.cxx or not r.startswith("op")])
    case.delta = 0 if "overflow" in case.place else -rng.choice([1, 2, 5, 8, 16, 100, 4096, 1 << 20, 1 << 31, 1 << 40])


def draw_stack(case, bags, rng):
    case.flow = rng.choice(["straight", "recursion", "cxx-thread" if case.cxx else "thread"])
    case.place = rng.choice(["recursion", "wide frames", "alloca"])
    case.delta = rng.choice([32, 100, 1000, 3000])


# A crash: what is done, where it lies, the signal and the access by which it is known.
CRASHES = {
    "null read": ("null", "SIGSEGV", "read"), "null write": ("null", "SIGSEGV", "write"), "null member": ("null", "SIGSEGV", "write"),
    "null call": ("null", "SIGSEGV", "execute"), "null strlen": ("null", "SIGSEGV", "read"), "constant write": ("forbidden", "SIGSEGV", "write"),
    "code write": ("forbidden", "SIGSEGV", "write"), "data call": ("forbidden", "SIGSEGV", "execute"), "block call": ("", "SIGSEGV", "execute"),
    "unmapped read": ("unmapped", "SIGSEGV", "read"), "unmapped write": ("unmapped", "SIGSEGV", "write"), "no address": ("no-address", "SIGSEGV", "write"),
    "past the file": ("past-file", "SIGBUS", "read"), "abort": ("", "SIGABRT", ""), "division": ("", "SIGFPE", ""), "trap": ("", "SIGILL", ""),
}


def draw_crash(case, bags, rng):
    case.place = bags.draw("crash", CRASHES)
    case.entry, case.size = entry_for(bags, rng, case.cxx, case.kind, lambda e: e.plain)
    case.size = case.size if case.size >= 64 else up(64, case.entry.unit)
    case.size = case.entry.fixed or case.size
    case.delta = rng.choice([8, 16, 40, 200, 1000]) if case.place == "null member" else 0


DRAWN = {"overrun": draw_beside, "underrun": draw_beside, "use-after-free": draw_freed, "double-free": draw_double, "bad-free": draw_bad,
         "mismatched-free": draw_mismatch, "overlap": draw_overlap, "size": draw_size, "stack-overflow": draw_stack, "crash": draw_crash}

ALONE = {"loop", "busy"}  # ways to a bug that need whole ones, again and again


def cases(seed, count):
    """The first `count` bugs of a seed. What a number is does not depend on how many there are."""
    rng = random.Random(f"bugs {seed}")
    bags = Bags(rng)
    made, seen = [], set()
    kinds = [kind for kind, share in SHARES.items() for _ in range(share)]
    while len(made) < count:
        number = len(made) + 1
        kind = bags.draw("kind", kinds)
        cxx = rng.random() < 0.4
        flow = bags.draw(f"flow {cxx}", FLOWS_CXX if cxx else FLOWS)
        if flow == "busy" and rng.random() < 0.7:
            flow = "loop"
        case = Case(number, kind, cxx, rng.choice(["O0", "O2"]), flow, flow in ALONE or rng.random() < 0.5, rng.random() < 0.4)
        DRAWN[kind](case, bags, rng)
        if case.key() not in seen:
            seen.add(case.key())
            made.append(case)
    return made
