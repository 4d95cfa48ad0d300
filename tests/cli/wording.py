#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What is wrong with the looks of an output, a line each: wording.py COLUMNS [FILE].

COLUMNS 0: it went into a file or pipe, where lines are as long as need be and nothing is cut.
"""
import re
import sys
import unicodedata

NOUNS = ("allocation|block|byte|call|capture|chunk|copy|error|finding|free|frame|function|line|look|mapping|module|process|root|run|sample|site|"
         "stack|sweep|thread|variable")
ZEROS = {"0", "0 B", "0%", "0.0%", "0 s", "-", ""}

# What a finer clock than the agent's has measured may be any figure. Sentences may be broken at any blank.
TIME = r"(?:[\d.]+ (?:ns|us|ms|s)|\d+m\d\ds|\d+h\d\dm|\d+d\d\dh)"
FINER = "|".join((
    rf"exited with status \d+ after {TIME}", rf"killed by signal \d+ \([^)]*\) after {TIME}",
    rf"\bran (?:for )?{TIME}", rf"were seen in {TIME}",
    rf"\bstopped for {TIME}(?:,? (?:and|one for) {TIME}(?: before)?)?",
    rf"searched [\d.]+ (?:[KMGT]i)?B in {TIME}", rf"held up for (?:more than )?{TIME}",
    rf"about {TIME} before the (?:end|rest)",
    rf"{TIME} lost in reclaim", rf"took less than {TIME}", rf"\b(?:traced|of) .*, for {TIME}",
)).replace(" ", r"\s+(?:pmm: +)?")
# times of the kernel: tables that have the longest one
KERNEL = r"^ +.*\blongest\b.*\n(?: .*\n)*"


def of_agent(text):
    """Without what other clocks have measured."""
    return re.sub(KERNEL, "", re.sub(FINER, "", text), flags=re.M)


def columns(text):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def in_line(line, width):
    text = re.sub(r"'[^']*'", "''", line)       # names from outside are what they are
    if line != line.rstrip():
        yield "ends in a blank"
    if width and columns(line) > width and " " in line.strip()[: width // 2]:
        yield f"{columns(line)} columns"
    if not width and "\u2026" in line:
        yield "is cut"
    if re.search(rf"(?<![\d.,/-])1 (more )?(({NOUNS})s|processes|copies|frees)\b", text) and not re.search(r"\b1 (\w+ )?frees?'s", text):
        yield "one of many"
    if re.search(rf"(?<![\d.,-])(0|[2-9]|[1-9][\d,]*\d) (more )?({NOUNS})(?![\w-])(?! of \d+ (B|bytes)\b)", text):
        yield "many as one"
    if re.search(r"[,;:.] {2,}[a-z]", re.sub(r"^pmm: +", "", text)) or re.search(r" [,;]", text):
        yield "blanks inside of a sentence"
    if re.search(r"\d{5,}(?![\d:.-]).*/s\)", text) or re.search(r"\d,\d{3},\d{3}/s", text):
        yield "more digits than a rate has"
    if re.search(r"stood still|stands still", text):
        yield "no term of the field"


def in_moments(text):
    for line in of_agent(text).split("\n"):
        if re.search(r"(?<![\d.])\d+0\.0 ms\b|\b0 s (after|before|later)|\bran 0 s|less than [\d.]+ ms", re.sub(r"'[^']*'", "''", line)):
            yield f"more digits than the clock has: {line}"


def cells(line, starts):
    return [line[a:b].strip() for a, b in zip(starts, starts[1:] + [None])]


def tables(lines):
    """Title, heading, rows of each table: a line without a figure whose words are two blanks apart, below one that is not indented."""
    i = 0
    while i + 1 < len(lines):
        head = lines[i + 1]
        if lines[i] and not lines[i].startswith((" ", "pmm:")) and re.match(r" +\S+.*\S {2,}\S", head) and not re.search(r"\d", head):
            j = i + 2
            while j < len(lines) and lines[j].startswith(" "):
                j += 1
            yield lines[i], head, lines[i + 2:j]
            i = j
        else:
            i += 1


def right_ends(head):
    return [m.end() for m in re.finditer(r"\S+( \S+)*", head)]


def in_tables(lines):
    for title, head, rows in tables(lines):
        names = re.findall(r"\S+(?: \S+)*", head)
        ends = right_ends(head)
        rows = [r for r in rows if len(re.findall(r"\S+(?: \S+)*", r)) >= min(3, len(names))]
        if not rows:
            continue
        for name, end in list(zip(names, ends)):
            # a figure ends where its heading does
            column = [m.group() for r in rows for m in re.finditer(r"\S+( \S+)*", r) if m.end() == end]
            if name != "lived from" and len(column) == len(rows) and all(c in ZEROS for c in column):
                yield f"{title}: '{name}' is zeros only"
        for r in rows:
            figures = [m.group() for m in re.finditer(r"\S+( \S+)*", r) if m.end() in ends and re.match(r"[-\d<]", m.group())]
            if len(figures) > 1 and all(c in ZEROS for c in figures):
                yield f"{title}: a row of zeros: {r.strip()}"


def main():
    width = int(sys.argv[1])
    text = (open(sys.argv[2], encoding="utf-8") if len(sys.argv) > 2 else sys.stdin).read()
    lines = text.split("\n")
    wrong = [f"{what}: {line}" for line in lines for what in in_line(line, width)] + list(in_moments(text)) + list(in_tables(lines))
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


sys.exit(main())
