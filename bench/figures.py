# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures out of measurements: the least of noisy times, ratios, means, and tables of them."""

import math
from statistics import median

LEAST_SECONDS = 0.001    # added CPU below this is taken for this: the clocks tell no better


def median_interval(values):
    """
    (median, lower, upper, percent): the values between which the median of what they are drawn from lies with that
    confidence, at least 95 % where there are enough of them, whatever the distribution (order statistics).
    """
    values, n = sorted(values), len(values)
    def within(k):    # that it lies from the k-th to the k-th last
        return 1 - 2 * sum(math.comb(n, i) for i in range(k)) / 2 ** n
    k = max([k for k in range(1, n // 2 + 1) if within(k) >= 0.95], default=1)
    return median(values), values[k - 1], values[n - k], 100 * within(k)


def geomean(values):
    values = [v for v in values if v is not None]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def ratio(a, b):
    return a / b if a is not None and b else None


def summary(values):
    return {"min": min(values), "median": median(values)} if values else None


def added(times, tool, which="min"):
    """CPU seconds that a tool added to a native run; `times`: {tool: summary}."""
    if not times.get(tool):
        return None
    return max(times[tool][which] - times["native"][which], LEAST_SECONDS)


def against(times, which="min"):
    """Added CPU of pmm over that of heaptrack."""
    return ratio(added(times, "pmm", which), added(times, "heaptrack", which))


def over_native(times, tool, which="min"):
    return ratio(times[tool][which], times["native"][which]) if times.get(tool) else None


def text(value, digits=2):
    return "-" if value is None else value if isinstance(value, str) else f"{value:.{digits}f}"


def table(head, rows):
    """Rows as text in Markdown's form, columns aligned."""
    widths = [max(len(row[k]) for row in [head, *rows]) for k in range(len(head))]
    def line(row):
        return "| " + " | ".join(cell.ljust(w) if not k else cell.rjust(w)
                                 for k, (cell, w) in enumerate(zip(row, widths))) + " |"
    rule = "|" + "|".join("-" * (w + 1) + ("-" if not k else ":") for k, w in enumerate(widths)) + "|"
    return "\n".join([line(head), rule, *map(line, rows)])


def verdict(value, limit, what, digits=3):
    """One line: a target, what was measured, whether it is met."""
    if value is None:
        return f"- {what}: not measured"
    return f"- {what}: {value:.{digits}f}, target {limit:g}: {'met' if value <= limit else 'MISSED'}"
