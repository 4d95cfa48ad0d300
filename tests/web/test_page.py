#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
The page of `pmm report --format html` in a browser: a real program's and made-up captures. Figures on it are those of --json; the keyboard reaches all
of it; names from outside do nothing; nothing is asked of a network.
"""

import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import BUILD, MKCAPTURE, PMM, ROOT, WAIT_SECONDS, Session, lacking, page_of, pmm, skip_all  # noqa: E402

PROGRAM = r"""
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *volatile kept[100];

__attribute__((noinline)) char *make_text(size_t n) { return memset(malloc(n), 'x', n); }
__attribute__((noinline)) void keep(int i) { kept[i] = make_text(5000); }
__attribute__((noinline)) void lose(void) { make_text(700)[0] = 0; }
__attribute__((noinline)) void churn(void) { free(make_text(64)); }

int main(void)
{
	for (int i = 0; i < 100; i++) {
		keep(i);
		churn();
		if (i % 10 == 0)
			lose();
		usleep(5000);
	}
	return 0;
}
"""

HOSTILE = ["<script>alert(1)</script>", "a\nb", 'x"y\'z', "\x1b[31mred", "</script><img src=x onerror=alert(1)>", "=cmd()", "&lt;&amp;", "\u202edesrever"]


def captures(folder):
	"""path by name"""
	made = {}
	for name in ("demo", "leaks", "check"):
		made[name] = f"{folder}/{name}.pmm"
		subprocess.run([MKCAPTURE, f"{ROOT}/tests/cli/golden/{name}.recipe", made[name]], check=True)
	with open(f"{folder}/many.recipe", "w") as f:
		f.write("generate sites=20000 blocks=100000 seed=3 depth=20 points=200\n")
	made["many"] = f"{folder}/many.pmm"
	subprocess.run([MKCAPTURE, f"{folder}/many.recipe", made["many"]], check=True)
	with open(f"{folder}/prog.c", "w") as f:
		f.write(PROGRAM)
	subprocess.run(["gcc", "-g", "-O1", "-o", f"{folder}/prog", f"{folder}/prog.c"], check=True)
	made["real"] = f"{folder}/real.pmm"
	subprocess.run([PMM, "run", "-q", "--leaks", "-o", made["real"], "--", f"{folder}/prog"], check=True, stderr=subprocess.DEVNULL)
	return made


def hostile(folder):
	"""
	The path of a program with a name, a thread and functions that would do something where they are taken for more than names. The functions get
	their names after the program is compiled.
	"""
	path = f"{folder}/<script>alert(1)"
	plain = [f"hostile{i}".ljust(len(text.encode()), "_") for i, text in enumerate(HOSTILE)]
	lines = ["#include <stdlib.h>", "#include <sys/prctl.h>", "void *volatile kept[100];"]
	for i, name in enumerate(plain):
		lines.append(f"__attribute__((noinline)) void {name}(void) {{ kept[{i}] = malloc({1000 + i}); }}")
	lines.append('int main(void) { prctl(PR_SET_NAME, "</script><b>"); ' + "".join(f"{name}();" for name in plain) + " return 0; }")
	with open(f"{folder}/hostile.c", "w") as f:
		f.write("\n".join(lines))
	subprocess.run(["gcc", "-O1", "-o", path, f"{folder}/hostile.c"], check=True)
	with open(path, "rb") as f:
		program = f.read()
	for name, text in zip(plain, HOSTILE):
		program = program.replace(b"\0" + name.encode() + b"\0", b"\0" + text.encode().ljust(len(name), b"\0") + b"\0")
	with open(path, "r+b") as f:
		f.write(program)
	return path


def rows_of(s):
	"""The table in sight: headings, rows of texts."""
	return s.run("""const t = [...document.querySelectorAll('table.rows')].find((e) => e.checkVisibility());
		return [[...t.querySelectorAll('thead button')].map((e) => e.textContent),
			[...t.querySelectorAll('tbody tr:not(.spacer)')].map((r) => [...r.cells].map((c) => c.textContent))]""")


def csv_of(s, folder, name):
	path = f"{folder}/{name}.csv"
	if os.path.exists(path):
		os.remove(path)
	s.click("button", "Save as CSV")
	end = time.monotonic() + WAIT_SECONDS
	# Chromium makes an empty file of that name, and renames the one that it has written to it
	while not (os.path.exists(path) and os.path.getsize(path)) and time.monotonic() < end:
		time.sleep(0.05)
	with open(path, newline="") as f:
		return list(csv.DictReader(io.StringIO(f.read())))


def table(s, title):
	s.tab("Tables")
	s.click(".kinds button", title)


def name_of(line):
	if not line["function"] and not line["module"]:
		return "[stack unknown]"
	return line["function"] or f"[{os.path.basename(line['module'])}]"


FIGURES = ("live_bytes", "live_blocks", "peak_bytes", "peak_blocks", "allocated_bytes", "allocs", "temporary")


def check_figures(s, folder, name, capture):
	"""What tables and overview say is what --json says."""
	report = json.loads(pmm("report", "--json", "--functions", "--blocks", capture))
	s.open(page_of(capture, f"{folder}/{name}.html"))
	table(s, "Lines")
	lines = csv_of(s, folder, "lines")
	found = sorted((line["function"], int(line["live_bytes"]), int(line["live_blocks"])) for line in lines if int(line["live_blocks"]))
	live = json.loads(pmm("report", "--json", "--sort", "live", capture))
	expected = sorted((name_of(line), line["value_bytes"], line["value_count"]) for line in live["lines"] if line["value_count"])
	s.same(f"{name}: lines", found, expected)
	table(s, "Stacks")
	stacks = csv_of(s, folder, "stacks")
	sites = live["sites"]
	for key in ("live_bytes", "live_blocks", "peak_bytes", "allocated_bytes", "allocs", "temporary", "max_bytes", "frees", "first_ns", "last_ns"):
		s.same(f"{name}: {key} of each stack", {int(r["site"]): int(r[key]) for r in stacks},
		       {x["site"]: x[key] for x in sites if any(x[k] for k in FIGURES)})
	table(s, "Blocks")
	blocks = csv_of(s, folder, "blocks")
	s.same(f"{name}: blocks, with their births in ticks", sorted((int(b["size_bytes"]), b["address"], b["entry"], int(b["birth_ns"])) for b in blocks),
	       sorted((b["size_bytes"], b["address"], b["entry"], b["birth_ns"]) for b in report["blocks"]))
	return report


def check_real(s, folder, capture):
	check_figures(s, folder, "real", capture)
	s.quiet("real")
	s.same("the title is the command line", s.text("h1"), f"{folder}/prog")
	leaks = json.loads(subprocess.run([PMM, "leaks", "--json", capture], capture_output=True, text=True).stdout)
	table(s, "Stacks")
	s.same("leaked bytes are those of pmm leaks", sum(int(r["leaked_bytes"]) for r in csv_of(s, folder, "stacks")),
	       sum(e["bytes"] for e in leaks["totals"] if e["class"] in ("definite", "indirect")))
	s.tab("Leaks")
	s.check("leaks are those of pmm leaks", "7,000 bytes in 10 blocks" in s.text("#panel-leaks"), s.text("#panel-leaks"))
	s.tab("Timeline")
	s.until("return document.querySelectorAll('#panel-timeline canvas').length >= 4")
	s.quiet("timeline")


def check_overview(s, folder, made):
	s.open(page_of(made["leaks"], f"{folder}/leaks.html"))
	found = dict(zip(s.texts("dl.answers dt"), s.texts("dl.answers dd")))
	s.same("the overview answers in this order", list(found),
	       ["holds it", "grows", "definitely lost", "indirectly lost", "possibly lost", "damaged", "churns", "explained"])
	text = subprocess.run([PMM, "leaks", made["leaks"]], capture_output=True, text=True).stdout
	for name in ("definitely lost", "indirectly lost", "possibly lost"):
		s.same(f"{name}: as pmm leaks says", found[name], re.search(rf"^  {name} +(.*)$", text, re.M)[1])
	text = pmm("report", made["leaks"])
	details = dict(zip(s.texts(".details dt"), s.texts(".details dd")))
	for name in ("peak", "live", "calls", "mode"):
		s.same(f"{name}: as pmm report says", details[name], re.search(rf"^  {name} +(.*)$", text, re.M)[1])
	s.check("what grows fastest is named", "queue" in found["grows"] and "9.75 KiB/s" in found["grows"], found["grows"])
	s.open(page_of(made["check"], f"{folder}/check.html"))
	s.check("what is damaged is said", s.text("dl.answers").count("7 errors:") == 1, s.text("dl.answers"))
	warnings = json.loads(pmm("report", "--json", made["many"]))["warnings"]
	s.open(page_of(made["many"], f"{folder}/many.html"))
	s.same("what was not covered comes first", s.texts(".overview > :first-child li") if warnings else [], [w["text"] for w in warnings])
	s.quiet("overview")


def check_source(s, folder, capture):
	s.open(page_of(capture, f"{folder}/source.html", "--source"), "#view=source")
	rows = s.run("return [...document.querySelectorAll('table.listing tr.holds')].map((r) => [...r.cells].slice(1).map((c) => c.textContent))")
	lines = PROGRAM.split("\n")
	at = next(i for i, text in enumerate(lines) if "make_text(size_t" in text)
	s.same("source lines have what they hold", rows, [["495 KiB", "495 KiB", str(at + 1), lines[at]]])
	calls = {row[0]: row[1] for row in s.run("""return [...document.querySelectorAll('table.listing tbody tr')].map((r) =>
		[r.cells[4]?.textContent.trim(), r.cells[2]?.textContent])""")}
	s.same("and what is live below them", (calls.get("keep(i);"), calls.get("lose();"), calls.get("churn();")), ("488 KiB", "6.84 KiB", ""))
	s.quiet("source")


def check_selection(s, folder, capture):
	s.open(page_of(capture, f"{folder}/real.html"))
	table(s, "Lines")
	s.click("table.rows td button", "make_text")
	s.check("a line that is clicked is selected", "line make_text" in s.text(".selection"), s.text(".selection"))
	table(s, "Functions")
	s.click("table.rows td button", "keep")
	s.same("all criteria hold", s.text(".selection .sum"), "488 KiB live in 100 blocks of 1 stack")
	address = s.run("return location.hash")
	s.open(f"{folder}/real.html", address)
	s.same("the address has the selection", s.text(".selection .sum"), "488 KiB live in 100 blocks of 1 stack")
	s.tab("Sizes and lifetimes")
	s.same("histograms are of the selection", s.texts("#panel-histograms table:first-of-type tbody td.number")[:2], ["100", "488 KiB"])
	s.click(".chip")
	s.click(".chip")
	s.same("criteria can be taken out", s.run("return document.querySelector('.selection').hidden"), True)
	s.open(f"{folder}/real.html", "#node=999999&function=-1&thread=x&size=5&age=a-b&view=nowhere&table=none&window=3-1&x=%3Cscript%3E")
	s.same("an address that makes no sense is left out", s.text('[role="tab"][aria-selected="true"]'), "Overview")
	s.quiet("selection")


def check_time(s, folder, capture):
	s.open(page_of(capture, f"{folder}/real.html"), "#view=timeline")
	box = s.until("const b = document.querySelector('.chart canvas')?.getBoundingClientRect(); return b && b.width > 300 && [b.x, b.y, b.width, b.height]")
	report = json.loads(pmm("report", "--json", "--blocks", capture))
	births = sorted(b["birth_ns"] for b in report["blocks"])
	# the middle half of them, wherever these are in time: the machine may have stood still for a while; what is left of the axis is a twentieth
	first, last = (0.05 + 0.95 * births[len(births) * n // 4] / report["process"]["run_ns"] for n in (1, 3))
	for kind, part in (("mousePressed", first), ("mouseMoved", (first + last) / 2), ("mouseMoved", last), ("mouseReleased", last)):
		s.command("Input.dispatchMouseEvent", type=kind, x=box[0] + box[2] * part, y=box[1] + box[3] / 2, button="left", buttons=1, clickCount=1)
	words = s.until("return document.querySelector('.timeline .words strong') && document.querySelector('.timeline .words').innerText")
	s.check("a stretch of time that is dragged over is selected", "of what was allocated then" in words, words)
	window = [float(x) for x in re.search(r"window=(\d+)-(\d+)", s.run("return location.hash")).groups()]
	blocks = [ns for ns in births if window[0] <= ns <= window[1]]
	sum_of = s.text(".selection .sum")
	s.check("what is still live of it is that of --blocks", f"in {len(blocks)} blocks" in sum_of and 0 < len(blocks) < 110, f"{len(blocks)}: {sum_of}")
	s.quiet("time")


def check_keys(s, folder):
	from selenium.webdriver.common.keys import Keys
	s.open(f"{folder}/real.html")
	s.keys(Keys.TAB)
	s.same("the first stop of the tab key is the tab that is shown", s.run("return document.activeElement.textContent"), "Overview")
	seen = []
	for key in (Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.END, Keys.ARROW_RIGHT, Keys.ARROW_LEFT, Keys.HOME):
		s.keys(key)
		seen.append(s.text('[role="tab"][aria-selected="true"]'))
	s.same("arrows, Home and End move among tabs", seen, ["Flame graph", "Timeline", "Errors", "Overview", "Errors", "Overview"])
	outline = s.run("return getComputedStyle(document.activeElement).outlineStyle")
	s.same("the focus is seen", outline, "solid")
	unnamed = s.run("""document.querySelectorAll('[role=tab]').forEach((t) => t.click());
		return [...document.querySelectorAll('button, input, [role=img], [role=region], canvas[tabindex]')]
			.filter((e) => !(e.textContent.trim() || e.getAttribute('aria-label') || e.labels?.length)).map((e) => e.outerHTML)""")
	s.same("whatever can be used has a name", unnamed, [])


def luminance(colour):
	parts = [int(x) / 255 for x in re.findall(r"\d+", colour)[:3]]
	parts = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
	return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(a, b):
	high, low = sorted((luminance(a), luminance(b)), reverse=True)
	return (high + 0.05) / (low + 0.05)


def check_looks(s, folder):
	ground = {}
	for scheme in ("light", "dark"):
		s.media(prefers_color_scheme=scheme)
		s.open(f"{folder}/real.html", "#view=tables&answer=1")
		ground[scheme] = s.run("return getComputedStyle(document.documentElement).backgroundColor")
		weak = []
		for selector, own in (("h1", False), (".from", False), ('[role="tab"]', False), ("td", False), ("td .link", False), (".chip", True),
		                      ("th button", False),                       ('.kinds button[aria-pressed="true"]', True)):
			ink, behind = s.run("""const e = document.querySelector(arguments[0]), c = getComputedStyle(e);
				return [c.color, (arguments[1] ? c : getComputedStyle(document.documentElement)).backgroundColor]""", selector, own)
			if contrast(ink, behind) < 4.5:
				weak.append((selector, ink, behind, contrast(ink, behind)))
		s.same(f"text stands out ({scheme})", weak, [])
	s.check("the dark page is dark, the light one light", luminance(ground["dark"]) < 0.05 and luminance(ground["light"]) > 0.8, ground)
	s.media(prefers_color_scheme="light")
	s.command("Emulation.setDeviceMetricsOverride", width=360, height=700, deviceScaleFactor=1, mobile=False)
	s.open(f"{folder}/real.html")
	wide = []
	for tab in s.texts('[role="tab"]'):
		s.tab(tab)
		over = s.run("return document.documentElement.scrollWidth - innerWidth")
		if over > 0:
			wide.append((tab, over))
	s.same("nothing is wider than a narrow window", wide, [])
	s.command("Emulation.clearDeviceMetricsOverride")
	s.open(f"{folder}/real.html", "#view=tables")
	paper = s.command("Page.printToPDF", printBackground=False)
	s.check("it prints", len(paper["data"]) > 5000)
	s.quiet("looks")


def check_many(s, folder, capture):
	page = page_of(capture, f"{folder}/many.html")
	s.open(page, "#view=tables&table=blocks")
	s.same("all rows count", s.run("return document.querySelector('table.rows').getAttribute('aria-rowcount')"), "100001")
	inside = s.run("return document.querySelectorAll('table.rows tbody tr').length")
	s.check("only those in sight are in the document", inside < 150, inside)
	s.run("""const box = document.querySelector('.scroll'); box.scrollTop = 28 * 100;
		window.rowOf = (n) => document.querySelector(`table.rows tbody tr[aria-rowindex="${n}"]`)""")
	s.until("return window.rowOf(112) !== null")
	s.run("window.kept = window.rowOf(112); window.kept.querySelector('button').focus(); document.querySelector('.scroll').scrollTop = 28 * 95")
	s.until("return window.rowOf(86) !== null")
	order = s.run("return [...document.querySelectorAll('table.rows tbody tr[aria-rowindex]')].map((r) => Number(r.getAttribute('aria-rowindex')))")
	s.same("rows are in order, each once", order, list(range(order[0], order[0] + len(order))))
	s.check("a row that stays in sight stays as it is, with the focus",
	        s.run("return window.rowOf(112) === window.kept && window.kept.contains(document.activeElement)"))
	smallest = min(b["size_bytes"] for b in json.loads(pmm("report", "--json", "--blocks", capture))["blocks"])
	s.run("document.querySelector('.scroll').scrollTop = 1e9")
	s.until("return document.querySelector('table.rows tbody tr:nth-last-child(2)')?.getAttribute('aria-rowindex') === '100001'")
	last = s.run("return document.querySelector('table.rows tbody tr:nth-last-child(2)').cells[0].textContent")
	s.same("the last row is reached", last, f"{smallest} B")
	s.run("""const input = [...document.querySelectorAll('input[type=search]')].find((e) => e.checkVisibility());
		document.querySelector('table.rows thead button').click();
		input.value = '0x7';
		input.dispatchEvent(new Event('input'))""")
	inside = s.run("return document.querySelectorAll('table.rows tbody tr').length")
	s.check("nor are more when all are sorted and filtered", inside < 150, inside)
	s.quiet("many")


def check_freed(s, folder):
	"""What has given nearly all back is shown at its peak."""
	with open(f"{folder}/freed.c", "w") as f:
		f.write("#include <stdlib.h>\nint main(void)\n{\n\tvoid *volatile p[100];\n\tfor (int i = 0; i < 100; i++)\n\t\tp[i] = malloc(10000);\n"
		        "\tfor (int i = 0; i < 100; i++)\n\t\tfree(p[i]);\n\tp[0] = malloc(10);\n\treturn 0;\n}\n")
	subprocess.run(["gcc", "-g", "-o", f"{folder}/freed", f"{folder}/freed.c"], check=True)
	subprocess.run([PMM, "run", "-q", "-o", f"{folder}/freed.pmm", "--", f"{folder}/freed"], check=True)
	page = page_of(f"{folder}/freed.pmm", f"{folder}/freed.html")
	drawn = "const g = document.querySelector('.flame')?.graph; return g && !g.busy && [g.profile.metrics[g.metric].name, g.model.total]"
	s.open(page, "#view=flame")
	s.same("a heap that was given back: the flame graph is of the peak", s.until(drawn), ["peak", 1000000])
	s.open(page, "#view=flame&flame=%7B%7D")
	s.same("if its address does not say otherwise", s.until(drawn), ["live", 10])
	s.open(page, "#view=flame")
	s.until(drawn)
	s.run("document.querySelector('.flame').graph.setMetric(0)")
	s.until("return document.querySelector('.flame').graph.model.total === 10 && location.hash.includes('flame=')")
	s.open(page, s.run("return location.hash"))
	s.same("which it does when live bytes are chosen", s.until(drawn), ["live", 10])
	s.open(f"{folder}/real.html", "#view=flame")
	s.same("any other is shown live", s.until(drawn)[0], "live")
	s.quiet("freed")


def check_others(s, folder, made):
	check_figures(s, folder, "demo", made["demo"])
	s.tab("Leaks")
	s.check("that there was no search is said, with what helps", "pmm run --leaks" in s.text("#panel-leaks"), s.text("#panel-leaks"))
	s.tab("Timeline")
	s.same("the timeline has what the kernel says, and marks", s.texts("#panel-timeline h2"),
	       ["Live bytes by call site", "Allocations a second", "Threads", "What happened"])
	s.same("marks are in words", s.texts("#panel-timeline table tr"), ["6.00 s\tforked sorter (pid 4250)\t", "20.0 s\tended\t"])
	check_figures(s, folder, "leaks", made["leaks"])
	s.open(page_of(made["check"], f"{folder}/check.html"), "#view=errors")
	words = s.text("#panel-errors")
	errors = json.loads(subprocess.run([PMM, "check", "--json", made["check"]], capture_output=True, text=True).stdout)["findings"]
	s.same("all errors are there", (len(errors), words.count("use after free in"), "found\n7 errors" in words), (7, 1, True))
	for place in ("read of 4 bytes, 8 bytes into a block of 24 bytes that was freed", "was allocated with malloc by the main thread",
	              "it was freed by the same thread"):
		s.check(f"an error has its places: {place[:20]}", place in words, words)
	s.quiet("others")


def check_foreign(s, folder):
	"""Another tool's profile of one moment: what it does not know is not shown as nothing."""
	with open(f"{folder}/j.heap", "w") as f:
		f.write("heap_v2/1\n@ 0x401000 0x402000\n  t*: 2: 64 [0: 0]\n@ 0x403000 0x402000\n  t*: 5: 640 [0: 0]\n\n"
		        "MAPPED_LIBRARIES:\n00400000-00500000 r-xp 00001000 08:01 5 /opt/none/prog\n")
	s.open(page_of(f"{folder}/j.heap", f"{folder}/j.html"))
	words = s.text("#panel-overview")
	s.check("what it lacks comes first", words.startswith("Not covered\nwhat another tool recorded does not have"), words[:200])
	s.check("churn is not known", "not known: what was freed is not recorded block by block" in words, words)
	s.tab("Flame graph")
	s.same("it has live bytes and blocks", s.texts("#panel-flame select option")[:3], ["live, bytes", "live, blocks", "as wide as the change"])
	s.tab("Timeline")
	s.same("no time", s.text("#panel-timeline"), "The profile is of one moment.")
	table(s, "Lines")
	s.same("no peak, no calls", rows_of(s)[1], [["[prog]", "", "704 B", "100%", "7", "", "", "", "", "2"]])
	s.same("no lists of blocks", s.texts(".kinds button"), ["Lines", "Functions", "Modules", "Stacks"])
	s.tab("Sizes and lifetimes")
	s.check("no sizes, no lifetimes", "it has no single blocks" in s.text("main") and "is not recorded" in s.text("main"), s.text("main"))
	s.quiet("foreign")


def check_hostile(s, folder):
	capture = f"{folder}/hostile.pmm"
	subprocess.run([PMM, "run", "-q", "-o", capture, "--", hostile(folder), "<b>", '"&'], check=True)
	names = [site["function"] for site in json.loads(pmm("report", "--json", capture))["lines"]]
	s.same("its names are in the capture", sorted(names), sorted(HOSTILE))
	s.open(page_of(capture, f"{folder}/hostile.html"))
	s.run("window.alert = () => { document.title = 'harmed' }")
	elements = []
	for tab in s.texts('[role="tab"]'):
		s.tab(tab)
		if tab == "Tables":
			for kind in s.texts(".kinds button"):
				s.click(".kinds button", kind)
		time.sleep(0.05)
		elements += s.run("return [...document.querySelectorAll('#app script, #app img, #app b, #app iframe')].map((e) => e.outerHTML)")
	s.same("names make no elements", elements, [])
	s.check("and run nothing", s.run("return document.title").endswith(" - pmm"), s.run("return document.title"))
	table(s, "Lines")
	texts = [row[0] for row in rows_of(s)[1]]
	s.same("nothing of them is unseen", [t for t in texts if re.search("[\x00-\x1f\x7f\u202a-\u202e]", t)], [])
	lines = csv_of(s, folder, "lines")
	s.same("a spreadsheet takes none for a formula", [r["function"] for r in lines if r["function"].startswith(("=", "+", "-", "@"))], [])
	s.check("and CSV has them whole", {"'=cmd()", "a\nb", 'x"y\'z'} & {r["function"] for r in lines}, [r["function"] for r in lines])
	s.quiet("hostile")


def main():
	why = lacking()
	if why:
		skip_all(why)
	with tempfile.TemporaryDirectory(prefix="pmm-web.") as folder:
		made = captures(folder)
		tried = subprocess.run([PMM, "report", "--format", "html", "-o", f"{folder}/try.html", made["demo"]], capture_output=True, text=True)
		if tried.returncode and "was built without pages" in tried.stderr:
			skip_all("esbuild or libjs-dygraphs was missing when pmm was built")
		with Session(folder) as s:
			check_real(s, folder, made["real"])
			check_overview(s, folder, made)
			check_selection(s, folder, made["real"])
			check_source(s, folder, made["real"])
			check_time(s, folder, made["real"])
			check_keys(s, folder)
			check_looks(s, folder)
			check_freed(s, folder)
			check_others(s, folder, made)
			check_many(s, folder, made["many"])
			check_foreign(s, folder)
			check_hostile(s, folder)
	return 1 if s.bad else 0


if __name__ == "__main__":
	sys.exit(main())
