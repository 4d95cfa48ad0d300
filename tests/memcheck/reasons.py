# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the two differ: by call site, and for each the reason, if it is one of those that are known.

A reason is for call sites of one program, found by looking at the blocks themselves: who holds them (pmm leaks --holds), what allocated the
holder, what Valgrind does there. It says which change of classes it explains; anything else that differs there is not known.
"""

import dataclasses
import fnmatch

DEPTH = 3        # frames that make a call site; further out the names of functions differ
LOST = ("definite", "indirect")
HELD = ("possible", "reachable")

REASONS = {
    "loader": "tables of the loader and of threads, pointed to behind their start: possibly lost for memcheck, pmm knows who holds them. The "
              "table of thread-local storage is larger by 16 bytes a thread, for the agent's own variable.",
    "forked": "what the parent had allocated before it forked: memcheck has all of a process's blocks, pmm those of the child itself.",
    "kernel": "nginx's connections: its only pointers are in the data of epoll's entries. memcheck does not ask the kernel.",
    "aligned": "nginx takes the first aligned address within the block, which is its start or not: that depends on where the block lies.",
    "colours": "nodes of tsearch(): the lowest bit of a pointer is a colour, and so leads to the start or not. Which nodes are coloured depends on "
               "the order of the strings, of which the variables of the two tools themselves are some.",
    "never written": "postgres's pg_tzset() copies 23 KB of its stack, most of which it never wrote, into a table of time zones (of 95,928 bytes); "
                     "there lies an old pointer to the copy of the environment. memcheck does not follow words that were never written.",
    "usable size": "redis asks how much of a block it may use (malloc_usable_size): with memcheck no more than it asked for, else what jemalloc "
                   "has rounded up to. Strings therefore grow in place or are moved, at other call sites and sizes.",
    "random": "redis's hash tables, whose growth depends on a key drawn at random: it differs between two runs of the same tool as well.",
    "half its pages": "at its end ruby frees the lower half of its object heap only (it counts down what it compares with), so half of its objects "
                      "stay, and what they hold. Which half that is depends on where mmap() had put each page. Compare ruby-whole.",
    "collector": "what ruby's conservative garbage collector happened to free: it looks at old values on the stack. With so large a heap that "
                 "nothing is collected (RUBY_GC_HEAP_INIT_SLOTS=400000) the blocks are the same.",
}


@dataclasses.dataclass
class Rule:
    program: str     # pattern
    site: tuple      # patterns of functions (or files), innermost first; the rest is open
    before: tuple    # classes by memcheck
    after: tuple     # classes by pmm
    reason: str


RULES = [
    Rule("*", ("dlfo_mappings_segment_allocate",), ("possible",), ("reachable",), "loader"),
    Rule("*", ("allocate_dtv",), ("possible",), ("reachable",), "loader"),
    Rule("*", ("tsearch",), HELD, HELD, "colours"),
    Rule("nginx*", ("ngx_alloc", "ngx_crc32_table_init"), HELD, HELD, "aligned"),
    Rule("nginx*", ("ngx_alloc", "nginx"), LOST, HELD, "kernel"),
    Rule("postgres*", ("save_ps_display_args",), LOST, HELD, "never written"),
    Rule("postgres*", ("strdup", "save_ps_display_args"), LOST, HELD, "never written"),
    Rule("redis", ("z*", "sds*"), ("possible",), ("possible",), "usable size"),
    Rule("redis", ("zrealloc_usable", "sdsMakeRoomFor"), HELD, HELD, "usable size"),
    Rule("redis", ("zrealloc*", "lpInsert"), HELD, HELD, "usable size"),
    Rule("redis", ("zcalloc", "dictExpand"), ("reachable",), ("reachable",), "random"),
    Rule("ruby-whole", ("libruby*",), ("reachable",), ("reachable",), "collector"),
    Rule("ruby-whole", ("onig_*",), ("reachable",), ("reachable",), "collector"),
    Rule("ruby", ("libruby*",), LOST + HELD, LOST + HELD, "half its pages"),
    Rule("ruby", ("onig_*",), LOST + HELD, LOST + HELD, "half its pages"),
]


@dataclasses.dataclass
class Difference:
    frames: list
    memcheck: dict   # class -> (bytes, blocks)
    pmm: dict
    reason: str


def sites(entries):
    """(file, function) of the innermost frames -> class -> (bytes, blocks)."""
    out = {}
    for e in entries:
        site = out.setdefault(tuple(e.frames[:DEPTH]), {})
        before = site.get(e.cls, (0, 0))
        site[e.cls] = before[0] + e.bytes, before[1] + e.blocks
    return out


def less(a, b):
    """By class, what is in a beyond b."""
    rest = {c: (a[c][0] - b.get(c, (0, 0))[0], a[c][1] - b.get(c, (0, 0))[1]) for c in a}
    return {c: v for c, v in rest.items() if v > (0, 0)}


def fits(rule, program, site, a, b):
    names = [function or file for file, function in site]
    return (fnmatch.fnmatch(program, rule.program) and len(names) >= len(rule.site) and all(map(fnmatch.fnmatch, names, rule.site)) and
            set(less(a, b)) <= set(rule.before) and set(less(b, a)) <= set(rule.after))


def inherited(x, y, own):
    """
    Is what memcheck has in a child and pmm has not its parent's: what the parent still has, or blocks that are not lost, which it may have freed
    since?
    """
    return not less(y, x) and not set(less(own, y)) & set(LOST)


def differences(program, memcheck, pmm, parent):
    """By call site, with the reason; of a forked child what its parent has too counts as had from it."""
    a, b, had = sites(memcheck.entries), sites(pmm.entries), sites(parent.entries) if parent else {}
    out = []
    for site in sorted(set(a) | set(b)):
        x, y = a.get(site, {}), b.get(site, {})
        if x == y:
            continue
        own = less(x, had.get(site, {}))
        reason = "forked" if parent and inherited(x, y, own) else None
        reason = reason or next((r.reason for r in RULES if fits(r, program, site, own if parent else x, y)), None)
        out.append(Difference(list(site), x, y, reason))
    return out
