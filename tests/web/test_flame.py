#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
The flame graph of the page in a browser, of a real program: its figures are those of --json, it is zoomed, searched, inverted and folded by mouse and
keys, keeps its state in the address, and is drawn dark, in fine resolution, as a difference and on paper.
"""

import base64
import collections
import json
import os
import re
import subprocess
import sys
import tempfile
import zlib
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import PMM, Session, lacking, page_of, pmm, skip_all  # noqa: E402

PROGRAM = r"""
#include <cstdlib>
#include <cstring>

void *volatile kept[200];
int nr;

#define STAY __attribute__((noinline))
STAY char *make_text(size_t n) { return (char *)memset(malloc(n), 'x', n); }
template <typename T> STAY void fill(int n) { kept[nr++] = make_text(n * sizeof(T)); }
STAY void keep() { kept[nr++] = make_text(5000); }
STAY void walk(int depth) { if (depth) walk(depth - 1); else keep(); kept[199] = kept[0]; }
STAY void lose() { make_text(700)[0] = 0; }
STAY void churn() { free(make_text(64)); }

int main()
{
	for (int i = 0; i < 20; i++) {
		keep();
		walk(3);
		lose();
		churn();
	}
	fill<char>(3000);
	fill<double>(500);
	return 0;
}
"""

# What the tests ask of the graph (web/flame/index.js), which the view's element has.
GRAPH = "const g = document.querySelector('.flame').graph; "
METRICS = {"live, bytes": "live_bytes", "live, blocks": "live_blocks", "peak, bytes": "peak_bytes", "peak, blocks": "peak_blocks",
           "allocated, bytes": "allocated_bytes", "allocations": "allocs", "temporary": "temporary"}


def capture(folder):
	with open(f"{folder}/prog.cc", "w") as f:
		f.write(PROGRAM)
	subprocess.run(["g++", "-g", "-O1", "-fno-optimize-sibling-calls", "-o", f"{folder}/prog", f"{folder}/prog.cc"], check=True)
	subprocess.run([PMM, "run", "-q", "--leaks", "-o", f"{folder}/real.pmm", "--", f"{folder}/prog"], check=True, stderr=subprocess.DEVNULL)
	return f"{folder}/real.pmm"


class Flame:
	"""The graph on the page of a session."""

	def __init__(self, session):
		self.s = session

	def settled(self):
		"""Wait until the picture shows what was asked for."""
		self.s.until(GRAPH + "return g && !g.busy && !g.picture.asked && g.camera.begin < 0")

	def ask(self, script, *arguments):
		self.settled()
		return self.s.run(GRAPH + script, *arguments)

	def names(self):
		return self.ask("return g.model.path(g.zoomed).slice(1).map((n) => g.model.name(n))")

	def focused(self):
		return self.ask("return g.model.name(g.focus)")

	def place(self, name):
		"""The middle of the frame's first rectangle, in the window."""
		return self.ask("""const l = g.picture.layout,
				i = [...l.node.subarray(0, l.nr)].findIndex((n, k) => !l.rest[k] && g.model.name(n) === arguments[0]);
			const [x, y] = g.picture.placeOf(i);
			return [x + Math.min(l.w[i], g.picture.scene.width) / 2, y - 10]""", name)

	def mouse(self, kind, place, **more):
		self.s.command("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], **more)

	def click(self, name):
		place = self.place(name)
		for kind in ("mousePressed", "mouseReleased"):
			self.mouse(kind, place, button="left", clickCount=1)

	def pixel(self, name):
		"""The colour at the lower left of the frame, where no letters are, and the one it should have."""
		return self.ask("""const l = g.picture.layout, i = [...l.node.subarray(0, l.nr)].findIndex((n) => g.model.name(n) === arguments[0]);
			const [x, y] = [Math.max(0, l.x[i]) + 2, g.picture.rowTop(l.rowOf(i)) + 17], r = g.picture.scene.ratio;
			const rgb = [...g.picture.ctx.getImageData(x * r, y * r, 1, 1).data].slice(0, 3);
			return ['#' + rgb.map((v) => v.toString(16).padStart(2, '0')).join(''), g.palette.fill[g.picture.scene.index(l.node[i])]]""", name)

	def label_of_all(self, selector):
		self.settled()
		return self.s.texts(selector)


def stacks_of(report, key="live_bytes"):
	"""(names, outermost first; value) of each site of a report."""
	return [([f["function"] for f in reversed(site["frames"])], site[key]) for site in report["sites"] if site[key]]


def children(stacks, before=()):
	"""What the frames below some others hold, by name."""
	sums = collections.Counter()
	for names, value in stacks:
		if len(names) > len(before) and tuple(names[:len(before)]) == tuple(before):
			sums[names[len(before)]] += value
	return dict(sums)


SHOWN = "const o = {}; for (const n of g.model.children(g.zoomed)) o[g.model.name(n)] = (o[g.model.name(n)] ?? 0) + g.model.tree.weight[n]; return o"


def check_figures(s, flame, report):
	for label, key in METRICS.items():
		s.run("const e = document.querySelector('.flame select'); e.value = [...e.options].find((o) => o.text === arguments[0]).value; "
		      "e.dispatchEvent(new Event('change'))", label)
		total = sum(site[key] for site in report["sites"])
		s.same(f"{label}: the sum is that of --json", flame.ask("return g.model.total"), total)
	s.run(GRAPH + "g.setMetric(0)")
	s.same("the frames below the root are those of --json", flame.ask(SHOWN), children(stacks_of(report)))


def check_mouse(s, flame, page, report):
	stacks = stacks_of(report)
	path = next(names for names, _ in stacks if "walk(int)" in names)
	upto = path[:path.index("walk(int)") + 1]
	flame.mouse("mouseMoved", flame.place("walk(int)"))
	s.until("return !document.querySelector('.flame-tip').hidden")
	tip = s.text(".flame-tip")
	s.check("the tooltip says name, place and figures", tip.startswith("walk(int)\n") and "prog.cc:" in tip and "live: 97.7 KiB, 20 blocks" in tip, tip)
	flame.click("walk(int)")
	s.same("a click zooms", flame.names(), upto)
	s.same("what is seen is the frame", flame.ask("return [g.camera.left, g.camera.width]"),
	       flame.ask("return [g.model.tree.pos[g.zoomed], g.model.tree.weight[g.zoomed]]"))
	s.same("its ancestors are the trail", [t.split("\n")[0].rsplit(" ", 1)[0] for t in s.texts(".flame-trail li")], ["all", *upto])
	s.check("it is what is selected in the whole page", "97.7 KiB live in 20 blocks" in s.text(".selection .sum"), s.text(".selection .sum"))
	s.same("the frames below it are those of --json", flame.ask(SHOWN), children(stacks, upto))
	address = s.run("return location.hash")
	s.open(page, address)
	s.same("the address keeps it", flame.names(), upto)
	s.run("location.hash = '#view=flame'")
	s.until(GRAPH + "return !g.busy && g.zoomed === 0")
	s.same("another address in the same page is followed", flame.names(), [])
	s.run("location.hash = arguments[0]", address)
	s.until(GRAPH + "return !g.busy && g.zoomed !== 0")
	s.click(".flame-trail button", "main")
	s.same("the trail leads back", flame.names(), path[:path.index("main") + 1])
	s.run(GRAPH + "g.focusPicture()")
	s.keys("\ue00c")
	s.same("Escape shows all of it", (flame.names(), flame.ask("return g.camera.whole")), ([], True))
	s.same("and nothing is selected", s.run("return document.querySelector('.selection').hidden"), True)
	box = flame.ask("const b = g.picture.canvas.getBoundingClientRect(); return [b.x, b.y, b.width, b.height]")
	flame.mouse("mouseWheel", (box[0] + box[2] / 2, box[1] + 30), deltaX=0, deltaY=-400, modifiers=2)
	s.until(GRAPH + "return !g.camera.whole")
	left = flame.ask("return g.camera.left")
	at = (box[0] + box[2] / 2, box[1] + 30)
	flame.mouse("mousePressed", at, button="left", clickCount=1)
	for part in (20, 60):
		flame.mouse("mouseMoved", (at[0] + part, at[1]), button="left", buttons=1)
	flame.mouse("mouseReleased", (at[0] + 60, at[1]), button="left", clickCount=1)
	s.check("the wheel with Ctrl comes closer, and the mouse drags without a click", flame.ask("return g.camera.left") < left and flame.names() == [],
	        (left, flame.ask("return g.camera.left")))
	s.click(".flame-tools button", "Reset")


def check_keys(s, flame, report):
	stacks = stacks_of(report)
	down, up, right, left, enter = "\ue015", "\ue013", "\ue014", "\ue012", "\ue007"
	s.run(GRAPH + "g.focusPicture()")
	s.keys("\ue011", *[down] * len(stacks[0][0][:stacks[0][0].index("main") + 1]))
	s.same("the arrow down goes to callees", flame.focused(), "main")
	said = s.text(".flame-live")
	s.check("what is focused is said", said.startswith("main, ") and "% of all" in said and "callees" in said, said)
	s.keys(down)
	lines = flame.ask("return [...g.model.children(g.model.tree.parent[g.focus])].map((n) => g.model.name(n))")
	s.same("to the heaviest first", (flame.focused(), flame.ask("return g.model.children(g.model.tree.parent[g.focus]).indexOf(g.focus)")), (lines[0], 0))
	s.keys(right)
	second = flame.focused()
	s.keys(left)
	s.same("right and left go to the frames beside", (second, flame.focused()), (lines[1], lines[0]))
	s.keys(enter)
	s.same("Enter zooms", flame.names()[-1], lines[0])
	s.keys("\ue003")
	s.same("Backspace zooms to the parent", flame.names()[-1], "main")
	s.keys(up)
	s.same("the arrow up goes to the caller", flame.focused(), flame.names()[-2])
	s.keys("\ue00c")
	s.run("window.copied = []; navigator.clipboard.writeText = (t) => { window.copied.push(t); return Promise.resolve() }")
	s.keys(*[down] * 20, "c")
	s.until("return window.copied.length")
	copied = [line.split("  (")[0] for line in s.run("return window.copied[0]").split("\n")]
	s.check("a stack is copied as text", copied in [names for names, _ in stacks], copied)
	s.same("which is said", s.text(".flame-live"), "stack copied")
	s.keys("\ue00c", "/")
	s.same("/ goes to the search", s.run("return document.activeElement.type"), "search")


def check_search(s, flame, report):
	stacks = stacks_of(report)
	total = sum(value for _, value in stacks)
	share = sum(value for names, value in stacks if "walk(int)" in names)
	s.keys("wal", "k", "\ue007")
	s.until("return document.querySelector('.flame-share').textContent")
	s.same("the share of a search is that of the stacks in --json", s.text(".flame-share"), f"{share / total * 100:.1f}% of all, {share / 1024:.1f} KiB")
	s.same("matches are marked, others dimmed", flame.ask("const m = g.marks.tests(), names = (test) => [...new Set(g.model.children(0).length && "
	       "[...g.picture.layout.node.subarray(0, g.picture.layout.nr)].filter(test).map((n) => g.model.name(n)))]; return names(m.isHit)"), ["walk(int)"])
	for query in ("/^wal/", "WALK"):
		s.run(GRAPH + "g.search(arguments[0])", query)
		s.check(f"{query} finds the same", s.text(".flame-share").startswith(f"{share / total * 100:.1f}%"), s.text(".flame-share"))
	s.run(GRAPH + "g.search('/(/')")
	s.check("what is wrong with an expression is said", s.text(".flame-share").startswith("not a regular expression: ") and
	        s.run("return document.querySelector('.flame input').getAttribute('aria-invalid')") == "true", s.text(".flame-share"))
	s.run(GRAPH + "g.search('nothing like this')")
	s.same("nothing found is said", s.text(".flame-share"), "no frame matches")
	s.run(GRAPH + "g.search('')")


def check_views(s, flame, report):
	stacks = stacks_of(report)
	s.click(".flame-folds button", "Callees first")
	s.same("inverted: the frames below the root are the innermost", flame.ask(SHOWN), children([(names[::-1], value) for names, value in stacks]))
	s.click(".flame-folds button", "Callees first")
	s.click(".flame-folds button", "Root at the bottom")
	rows = flame.ask("return [g.picture.rowTop(0), g.picture.rowTop(1), g.picture.element.clientHeight]")
	s.check("flipped: the root is the lowest row", rows[0] > rows[1] and rows[0] + 21 == rows[2], rows)
	s.click(".flame-folds button", "Root at the bottom")
	everywhere = "const all = []; const go = (n) => { for (const c of g.model.children(n)) { all.push(g.model.name(c)); go(c) } }; go(0); return all"
	before = flame.ask(everywhere)
	s.click(".flame-folds button", "Fold recursion")
	s.same("recursion is folded", (before.count("walk(int)"), flame.ask(everywhere).count("walk(int)")), (4, 1))
	s.click(".flame-folds button", "Fold templates")
	folded = sorted(n for n in set(flame.ask(everywhere)) if "fill" in n)
	s.same("templates are folded", folded, ["void fill<…>(int)"])
	s.click(".flame-folds button", "Fold libraries")
	libc = [n for n in before if "libc_start" in n]
	s.check("libraries are folded", libc and not [n for n in flame.ask(everywhere) if "libc_start" in n] and "[libc.so.6]" in flame.ask(everywhere),
	        flame.ask(everywhere))
	s.same("the sum is the same", flame.ask("return g.model.total"), sum(value for _, value in stacks))
	s.run(GRAPH + "g.restore({})")


def check_looks(s, flame, page):
	seen = {}
	for scheme in ("light", "dark"):
		s.media(prefers_color_scheme=scheme)
		s.open(page, "#view=flame")
		seen[scheme], wanted = flame.pixel("main")
		s.same(f"a frame has its module's colour ({scheme})", seen[scheme], wanted)
	s.check("dark is darker", sum(bytes.fromhex(seen["dark"][1:])) < sum(bytes.fromhex(seen["light"][1:])) - 150, seen)
	s.media(prefers_color_scheme="light")
	s.until(GRAPH + "return !g.theme.dark")
	s.same("a change of the scheme is followed", flame.pixel("main")[0], seen["light"])
	s.run(GRAPH + "g.setView({ colour: 'verdict' })")
	same, wanted = flame.pixel("lose()")
	s.same("a frame that leaks has the colour of its verdict", (same, wanted), (wanted, flame.ask("return g.palette.fill[14]")))
	flame.ask("g.setView({ colour: 'module' })")
	flame.ask("g.setProfile({ ...g.profile, before: g.profile.self.map((a) => a.map((v) => v * 2)) })")
	same, wanted = flame.pixel("main")
	s.same("what shrank is blue", (same, wanted), (wanted, flame.ask("return g.palette.fill[0]")))
	s.check("which the legend says", "shrank" in s.text(".flame-legend"), s.text(".flame-legend"))
	s.command("Emulation.setDeviceMetricsOverride", width=800, height=600, deviceScaleFactor=2, mobile=False)
	s.until(GRAPH + "return g.picture.scene.ratio === 2")
	s.same("fine resolution is used", flame.ask("return g.picture.canvas.width"), 2 * flame.ask("return g.picture.element.clientWidth"))
	s.command("Emulation.clearDeviceMetricsOverride")
	s.until(GRAPH + "return g.picture.scene.ratio === 1")


def check_print(s, flame, page):
	s.media(prefers_color_scheme="dark")
	s.open(page, "#view=flame")
	flame.settled()
	paper = base64.b64decode(s.command("Page.printToPDF", printBackground=False)["data"])
	rows = flame.ask("const n = []; g.picture.layout.row.slice(0, g.picture.layout.nrRows).forEach((r) => n.push(r)); return n.length")
	s.same("on paper all rows are there, fine", flame.ask("return [g.picture.paper.width, g.picture.paper.height]"), [2080, rows * 42])
	light = flame.ask("return [...g.picture.paper.getContext('2d').getImageData(4, 4, 1, 1).data].slice(0, 3)")
	s.check("and light", min(light) > 150, light)
	streams = []
	for packed in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", paper, re.S):
		try:
			streams.append(zlib.decompress(packed))
		except zlib.error:
			pass	# not packed, or a font
	drawn = flame.ask("return g.picture.layout.nr")
	s.check("the picture is on it, a rectangle for each frame", max(t.count(b" re\nf") for t in streams) >= drawn, [t.count(b" re\nf") for t in streams])
	s.same("the screen stays dark", *flame.pixel("main"))
	s.media(prefers_color_scheme="light")


def main():
	why = lacking()
	if why:
		skip_all(why)
	with tempfile.TemporaryDirectory(prefix="pmm-web.") as folder:
		made = capture(folder)
		tried = subprocess.run([PMM, "report", "--format", "html", "-o", f"{folder}/try.html", made], capture_output=True, text=True)
		if tried.returncode and "was built without pages" in tried.stderr:
			skip_all("esbuild or libjs-dygraphs was missing when pmm was built")
		report = json.loads(pmm("report", "--json", "--depth", "0", "--sort", "live", made))
		page = page_of(made, f"{folder}/real.html")
		with Session(folder) as s:
			flame = Flame(s)
			s.open(page, "#view=flame")
			check_figures(s, flame, report)
			check_mouse(s, flame, page, report)
			check_keys(s, flame, report)
			check_search(s, flame, report)
			check_views(s, flame, report)
			s.quiet("by mouse and keys")
			check_looks(s, flame, page)
			check_print(s, flame, page)
			s.quiet("looks")
	return 1 if s.bad else 0


if __name__ == "__main__":
	sys.exit(main())
