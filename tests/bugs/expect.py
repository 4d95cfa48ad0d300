# SPDX-License-Identifier: GPL-2.0-or-later
"""What `pmm check` must find of a bug, by rule: doc/check.md as a program. Each miss has a reason of REASONS."""

from dataclasses import dataclass

PAGE = 4096
QUARANTINE = 1 << 20
POISON = 64 << 10

REASONS = {
    "slack": "read in the same page as the block, beside it",
    "light-read": "canaries show no reads",
    "far": "beyond canary or guard page: what lies there may be another block's",
    "side": "slack on that side, if the block is one of those that lie at the other end of their pages",
    "head": "in the head of a canaried block: functions do not look for reads there, and zeros may be written over zeros",
    "array-size": "sizes given to delete[] are not compared",
    "kernel": "by the kernel, in a system call that is no function of the list",
    "reused": "its memory had left the quarantine",
    "poison": "beyond the first 64 KiB of a released block, which are poisoned",
    "deep": "a function that begins more than 16 KiB into a canaried block, or more than 64 KiB into a released one",
    "fork": "in a child that neither allocates nor releases",
    "resized": "a canaried block of 128 KiB or more is resized where it is",
    "thread": "stack overflow of a thread that has allocated nothing yet",
    "unhooked": "attached: neither functions nor blocks that stay are looked at, only pages and, at the release, canaries",
    "inner": "attached: operator new asks the C library for more, and that is the block",
    "sampled": "no sampled block is concerned",
    "sample": "not among the blocks that were sampled",
    "child": "in a child, in the head of its parent's block: what that says of its call site is overwritten",
}


@dataclass
class Expected:
    """found: it must be, with all that is right about it. reason: why not; "may": both is right. spills: other blocks are hit, too."""
    found: bool
    reason: str = ""
    may: bool = False
    spills: bool = False


FOUND = Expected(True)


def missed(reason):
    return Expected(False, reason)


def may(reason):
    return Expected(False, reason, may=True)


def up(n, unit):
    return -(-n // unit) * unit


def base(level):
    """The level without what bounds its cost."""
    return {"guard-all": "guard", "mprotect": "guard", "left-default": "left", "light-default": "light", "none": "guard", "sampled": "guard"}.get(level, level)


class Around:
    """What lies around a block: bytes before and behind that are looked at late, and those beyond that stop an access."""

    def __init__(self, level, size, align):
        end = up(size, 16) if level == "light" else up(size, align)
        if level == "light":
            self.before, self.behind, self.guard = min(max(align, 16), PAGE), up(size, 16) + 16 - size, 0
            return
        pages = up(size, PAGE)
        self.before = 0 if level == "left" else (pages - end) // max(align, 16) * max(align, 16)
        self.behind = pages - size if level == "left" else pages - self.before - size
        self.guard = PAGE

    def late(self, size, first, end):
        return first < 0 and end > -self.before or end > size and first < size + self.behind

    def stopped(self, size, first, end):
        """Does some byte of [first, end) lie in a guard page?"""
        low, high = -self.before, size + self.behind
        return bool(self.guard) and (first < low and end > low - self.guard or end > high and first < high + self.guard)

    def far(self, size, first, end):
        return first < -self.before - self.guard or end > size + self.behind + self.guard


def wrong_bytes(case):
    """The wrong bytes, as they are touched, from the block's start."""
    way, size = case.way, case.size
    if case.kind == "underrun":
        return case.at, min(case.at + case.length, 0)
    if way.string:
        return size, size + (way.unit if way.name in ("atoi", "strtod") else 2 * PAGE)
    return max(case.at, size), case.at + case.length


NEAR = 2000  # bytes that are nearer to a block than to any other


def function_beside(case, level, around, heir):
    if 0 <= case.at < case.size:
        if level == "light" and case.at > 16000:
            return may("deep")
        return Expected(True, spills=level == "light" and case.way.files and case.length + case.at > case.size + around.behind)
    if level == "light" and case.at < 0:
        if case.at < -around.before:
            return may("far")
        if heir:
            return may("child")
        return missed("head") if case.way.access == "read" else may("head") if case.at + case.length <= -8 else FOUND
    if case.at < -around.before:
        return FOUND if case.at >= -NEAR else may("far")
    return FOUND if case.at < case.size + (NEAR if around.guard else around.behind) else may("far")


def beside(case, level):
    way, size = case.way, case.size
    around = Around(level, size, case.entry.align)
    first, end = wrong_bytes(case)
    reads = way.access == "read"
    late, stopped = around.late(size, first, end), around.stopped(size, first, end)
    far = around.far(size, first, end)
    heir = case.flow == "fork" and not case.whole
    if way.by == "function":
        return function_beside(case, level, around, heir)
    if level == "light" and case.kind == "underrun" and not reads and (heir or end <= -8):
        return may("far" if end <= -around.before else "child" if heir else "head")
    if way.by == "kernel":
        if reads:
            return missed("kernel")
        if stopped or far and level != "light":
            return may("kernel")
        return Expected(True, spills=far) if late else may("far")
    if level == "light" and first < -around.before and size >= 131072:
        return may("far")  # nothing may be mapped there
    if reads and level == "light":
        return missed("light-read")
    if (first < -NEAR or first > size + NEAR) and (stopped or far or not reads):
        return may("far")
    if way.name.startswith("down") and case.kind == "overrun" and end > size + NEAR:
        return may("far")
    if reads:
        return FOUND if stopped else may("far") if far else missed("slack")
    if way.access == "both" and not stopped:
        return may("slack")
    if stopped or late:
        return Expected(True, spills=far)
    return may("far")


def others(case):
    """How many blocks were released since, of which size."""
    return {"": (0, 0), "5 others": (5, case.size), "200 others": (200, case.size), "taken again": (0, 0), "3 MiB of others": (3200, 1000)}[case.between]


def reused(case, level):
    if level == "light":
        nr, size = others(case)
        return case.size + case.entry.align + nr * (size + 48) > 0.9 * QUARANTINE
    return case.between == "200 others" and case.size > 50000 or case.flow == "busy" and case.size > 50000


def use_after_free(case, level):
    way = case.way
    if way.by == "kernel" and (way.access == "read" or level != "light"):
        return missed("kernel")
    if level == "light" and case.size >= 131072 and "realloc" in case.freed:
        return may("resized")
    if reused(case, level):
        return may("reused")
    if level != "light":
        return FOUND
    heir = case.flow == "fork" and not case.whole
    if way.by == "function":
        return may("deep") if case.at >= POISON else FOUND
    if way.access == "read":
        return missed("light-read")
    if way.access == "both":
        return may("light-read")
    if case.at >= POISON:
        return missed("poison")
    if heir and not ("moved" in case.freed or "shrank" in case.freed or "grew" in case.freed):
        return missed("fork")
    return FOUND


def double_free(case, level):
    if level == "light" and case.size >= 131072 and "realloc" in case.freed:
        return may("resized")
    if reused(case, level):
        return may("reused")
    return FOUND


def bad_free(case, level):
    if level == "sampled" and case.place in ("stack", "alloca", "global", "constant", "thread-local", "unmapped", "code", "mapped"):
        return may("sampled")  # the C library may end the program
    return FOUND


def mismatched_free(case, level):
    return missed("array-size") if case.release == "delete[]-other-size" and case.entry.kind == "new[]" else FOUND


def overlap(case, level):
    return FOUND


def stack_overflow(case, level):
    return may("thread") if "thread" in case.flow else FOUND


RULES = {"overrun": beside, "underrun": beside, "use-after-free": use_after_free, "double-free": double_free, "bad-free": bad_free,
         "stack-overflow": stack_overflow, "mismatched-free": mismatched_free, "overlap": overlap}


def attached(case):
    """As guard, but that nothing is looked at but the pages themselves."""
    if case.keep or "realloc" in case.freed or case.release == "realloc" or case.way and case.way.by in ("function", "kernel"):
        return may("unhooked")
    if case.entry.align > 16 and case.entry.cxx:
        return may("inner")
    return guarded(case, RULES[case.kind])


def exhaustive(case, rule):
    """What any of the three runs finds: blocks at the end, at the start, and to the byte at the end where no alignment was asked for."""
    right, left = rule(case, "right"), rule(case, "left")
    if right.may or left.may:
        return right if right.may else left
    if right.found or left.found:
        return FOUND
    return FOUND if right.reason == "slack" and case.kind == "overrun" and "align" not in case.entry.kind and case.entry.align <= 16 \
        else right


def guarded(case, rule):
    """One of eight blocks lies at the start of its pages, but never the first of a call site."""
    right = rule(case, "right")
    if case.kind not in ("overrun", "underrun") or case.flow not in ("loop", "busy"):
        return right
    left = rule(case, "left")
    return right if (right.found, right.may) == (left.found, left.may) else may("side")


def expected(case, level):
    if level == "sampled-default" or level in ("sampled", "attached") and 0 < case.size < 16:
        return may("sample")
    if level == "attached":
        return attached(case)
    rule = RULES.get(case.kind, lambda c, l: FOUND)
    if level == "sampled" and rule is bad_free:
        return rule(case, level)
    if level == "exhaustive":
        return exhaustive(case, rule)
    return guarded(case, rule) if base(level) == "guard" else rule(case, base(level))
