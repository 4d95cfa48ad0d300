# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the two differ: by call site, and for each the reason, if it is one of those that are known."""

import dataclasses

REASONS = {}
DEPTH = 3        # frames that make a call site; further out names of functions differ


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


def differences(memcheck, pmm, parent):
    a, b = sites(memcheck.entries), sites(pmm.entries)
    return [Difference(list(site), a.get(site, {}), b.get(site, {}), None) for site in sorted(set(a) | set(b)) if a.get(site, {}) != b.get(site, {})]
