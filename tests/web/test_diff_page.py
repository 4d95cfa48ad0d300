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
    s.tab("Tables")
    rows = s.run("return [...document.querySelectorAll('main section:first-of-type tbody tr')].filter((r) => r.checkVisibility()).map((r) => r.innerText)")
    s.same("a row for each line that changed", len(rows), len(found["lines"]))
    s.check("largest change first", rows[0].startswith("+2.93 KiB") and rows[1].startswith("-1.46 KiB"), rows)
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
    return 1 if s.bad else 0


if __name__ == "__main__":
    sys.exit(main())
