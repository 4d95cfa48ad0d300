#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
The page of `pmm diff --format html` in a browser: figures on it are those of --json, the flame graph has what grew and what shrank, names from outside
do nothing, nothing is asked of a network.
"""

import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import MKCAPTURE, PMM, Session, lacking, skip_all  # noqa: E402
from test_page import csv_of, rows_of, table  # noqa: E402

BASE = ["process comm=app", "module app build-id=11", "site app+0x10>app+0x20 allocs=10 size=1000", "site app+0x10>app+0x30 allocs=4 size=500"]
NEW = ["process comm=<b>app</b>", "module app build-id=11", "site app+0x10>app+0x20 allocs=13 size=1000", "site app+0x10>app+0x30 allocs=1 size=500",
       "site app+0x10>app+0x50 allocs=2 size=70"]


def capture(folder, name, lines):
    path = f"{folder}/{name}.pmm"
    subprocess.run([MKCAPTURE, "/dev/stdin", path], input="\n".join(lines) + "\n", text=True, check=True)
    return path


def sums(s):
    """Of the flame graph's profile, live bytes after and before."""
    return s.run("""const m = document.querySelector('.flame').graph.model.profile;
        return [m.self[0], m.before[0]].map((v) => v.reduce((a, b) => a + b, 0))""")


KEYS = ("change_bytes", "change_count", "before_bytes", "after_bytes", "before_count", "after_count", "status", "function", "file", "line", "module",
        "module_offset")


def plain(row):
    """A row as CSV has it."""
    return tuple("" if row.get(key) is None else str(row[key]) for key in KEYS)


def check_tables(s, folder, found):
    for title, key in (("Lines", "lines"), ("Functions", "functions"), ("Modules", "modules"), ("Stacks", "stacks")):
        table(s, title)
        rows = csv_of(s, folder, f"diff-{key}")
        s.same(f"{title}: all cells are those of --json, the largest change first", [plain(row) for row in rows], [plain(row) for row in found[key]])
    s.check("a stack is a line of names", "0x20 < " in rows_of(s)[1][0][0], rows_of(s)[1])
    table(s, "Lines")
    heads, rows = rows_of(s)
    s.same("headings", heads, ["line", "change", "blocks", "before", "after", "blocks before", "blocks after", "status"])
    s.check("largest change first", [row[1] for row in rows[:2]] == ["+2.93 KiB", "-1.46 KiB"], rows)
    s.click("table.rows th button", "status")
    s.same("headings sort", [row[7] for row in rows_of(s)[1]], ["grew", "new", "shrank"])
    s.run("""const input = [...document.querySelectorAll('input[type=search]')].find((e) => e.checkVisibility());
        input.value = 'SHRANK';
        input.dispatchEvent(new Event('input'))""")
    s.same("the filter searches texts", [row[1] for row in rows_of(s)[1]], ["-1.46 KiB"])


PROGRAM = r"""
#include <stdlib.h>

void *volatile kept;

__attribute__((noinline)) void grow(int n) { while (n--) kept = malloc(1000); }
__attribute__((noinline)) void shrink(int n) { while (n--) kept = malloc(500); }
__attribute__((noinline)) void fresh(int n) { while (n--) kept = malloc(70); }

int main(int argc, char **argv)
{
	int more = argc > 1;

	grow(10 + 3 * more);
	shrink(4 - 3 * more);
	fresh(2 * more);
	return 0;
}
"""


def real(folder):
    """The page of a program that ran twice."""
    with open(f"{folder}/prog.c", "w") as f:
        f.write(PROGRAM)
    subprocess.run(["gcc", "-g", "-O1", "-o", f"{folder}/prog", f"{folder}/prog.c"], check=True)
    runs = [f"{folder}/run-{n}.pmm" for n in (0, 1)]
    for n, path in enumerate(runs):
        subprocess.run([PMM, "run", "-q", "-o", path, "--", f"{folder}/prog", *["more"] * n], check=True)
    subprocess.run([PMM, "diff", "--format", "html", "-o", f"{folder}/real.html", *runs], check=True, capture_output=True)
    return f"{folder}/real.html"


def changes(s):
    heads, rows = rows_of(s)
    return [row[heads.index("change")] for row in rows]


def selected(s):
    return s.text(".selection .chip"), s.text(".selection .sum")


GRAPH = "const g = document.querySelector('.flame').graph, m = g.model.profile; "


def check_selection(s, page):
    one = "-1.46 KiB in 1 stack that changed"
    s.open(page, "#view=tables")
    s.same("lines of a real program", changes(s), ["+2.93 KiB", "-1.46 KiB", "+140 B"])
    s.click("table.rows td button", "shrink")
    s.same("a line that is clicked is selected", selected(s), ("line shrink prog.c:7 ×", one))
    s.same("the table has it alone", changes(s), ["-1.46 KiB"])
    table(s, "Stacks")
    s.same("and its stack alone", changes(s), ["-1.46 KiB"])
    s.open(page, s.run("return location.hash"))
    s.same("the address has the selection", (selected(s)[1], changes(s)), (one, ["-1.46 KiB"]))
    s.click("table.rows td button")
    s.check("a stack is shown whole", "shrink prog.c:7\nmain prog.c:15\n" in s.text("section.stack"), s.text("section.stack"))
    s.tab("Flame graph of what changed")
    s.until("return document.querySelector('.flame')?.graph?.model?.tree && document.querySelector('.flame').graph.marks.selection.nodes !== null")
    s.same("the flame graph marks its stack", s.run(GRAPH + "return [...g.marks.selection.nodes].map((n) => [m.self[0][n], m.before[0][n]])"), [[500, 2000]])
    s.click(".chip")
    s.same("it can be taken out", s.run(GRAPH + "return [document.querySelector('.selection').hidden, g.marks.selection.nodes]"), [True, None])
    s.until(GRAPH + "return !g.busy && g.model.tree")
    s.run(GRAPH + "g.choose([...g.model.tree.weight.keys()].find((n) => g.model.name(n) === 'grow'))")
    s.same("a frame that is clicked is selected", selected(s), ("stacks through grow ×", "+2.93 KiB in 1 stack that changed"))
    s.tab("Tables")
    s.same("in the tables, too", changes(s), ["+2.93 KiB"])
    table(s, "Functions")
    s.same("in each of them", [row[0] for row in rows_of(s)[1]], ["grow"])
    s.open(page, "#select=lines-99&table=none&view=tables&x=%3Cscript%3E")
    s.same("an address that makes no sense is left out", (len(changes(s)), s.run("return document.querySelector('.selection').hidden")), (3, True))
    s.quiet("selection")


def check_page(s, folder, before, after):
    page = f"{folder}/diff.html"
    subprocess.run([PMM, "diff", "--format", "html", "-o", page, before, after], check=True, capture_output=True)
    found = json.loads(subprocess.run([PMM, "diff", "--json", before, after], check=True, capture_output=True, text=True).stdout)
    total = found["totals"][0]
    s.check("the file is for its owner", os.stat(page).st_mode & 0o777 == 0o600)
    s.open(page)
    s.same("the title names both", s.text("h1"), f"{before} compared with {after}")
    s.check("what must be known first is there", "two programs" in s.text("main"), s.text("main"))
    s.check("totals have the change", "+1.60 KiB" in s.text("main"), s.text("main"))
    check_tables(s, folder, found)
    s.open(page)
    s.tab("Flame graph of what changed")
    s.until("return document.querySelector('.flame')?.graph?.model?.tree")
    s.same("the flame graph has both heaps", sums(s), [total["after_bytes"], total["before_bytes"]])
    s.check("and two colours", s.run("return document.querySelector('.flame').graph.model.signed"))
    s.same("names make no elements", s.run("return document.querySelectorAll('#app b').length"), 0)
    s.quiet("diff")
    if os.environ.get("SHOT"):
        s.driver.save_screenshot(os.environ["SHOT"])


def main():
    why = lacking()
    if why:
        skip_all(why)
    with tempfile.TemporaryDirectory(prefix="pmm-web.") as folder:
        before, after = capture(folder, "base", BASE), capture(folder, "new", NEW)
        tried = subprocess.run([PMM, "diff", "--format", "html", "-o", f"{folder}/try.html", before, after], capture_output=True, text=True)
        if tried.returncode and "was built without pages" in tried.stderr:
            skip_all("esbuild or libjs-dygraphs was missing when pmm was built")
        with Session(folder) as s:
            check_page(s, folder, before, after)
            check_selection(s, real(folder))
    return 1 if s.bad else 0


if __name__ == "__main__":
    sys.exit(main())
