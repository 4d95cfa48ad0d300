#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
The page in Firefox: the overview's sentences and all figures are what Chromium's test expects, the flame graph is drawn, zoomed by a click and searched,
the timeline is drawn, the page is light and dark, and the console stays empty.
"""

import os
import socket
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_flame  # noqa: E402
import test_page  # noqa: E402
from browser import PMM, WAIT_SECONDS, page_of, skip_all  # noqa: E402
from firefox import Firefox, lacking  # noqa: E402


class Flame(test_flame.Flame):
	def click(self, name):
		self.s.press(self.place(name))


def check_watched(s, folder):
	"""What the checks of quiet() rest on: what is planted is seen."""
	with socket.socket() as port:
		port.bind(("127.0.0.1", 0))	# nobody answers there
		url = f"http://127.0.0.1:{port.getsockname()[1]}/asked"
		with open(f"{folder}/loud.html", "w") as f:
			f.write("<!DOCTYPE html><html data-ready=yes><meta charset=utf-8><title>loud</title><body>"
			        f"<script>new Image().src = '{url}'; console.error('said'); throw new Error('failed')</script>")
		s.open(f"{folder}/loud.html")
		seen, end = [], time.monotonic() + WAIT_SECONDS
		missing = {"said", "Error: failed", url}
		while missing and time.monotonic() < end:
			seen += sum(s.logs(), [])
			missing = {text for text in missing if not any(text in m for m in seen)}
			time.sleep(0.05)
		s.same("a message, an error and a request are seen", missing, set())


def check_flame(s, folder, capture, report):
	page = page_of(capture, f"{folder}/flame.html")
	s.open(page, "#view=flame")
	flame = Flame(s)
	for scheme in ("dark", "light"):
		s.media(scheme)
		s.open(page, "#view=flame")
		found, expected = flame.pixel("main")
		s.same(f"the first picture has the frames' colours ({scheme})", found, expected)
		shade = s.run("return getComputedStyle(document.documentElement).backgroundColor")
		s.check(f"and the page is {scheme}", (test_page.luminance(shade) > 0.5) == (scheme == "light"), shade)
	test_flame.check_figures(s, flame, report)
	flame.click("walk(int)")
	s.same("a click zooms", flame.names()[-1], "walk(int)")
	s.check("and selects in the whole page", "97.7 KiB live in 20 blocks" in s.text(".selection .sum"), s.text(".selection .sum"))
	address = s.run("return location.hash")
	s.open(page, address)
	s.same("the address keeps it", flame.names()[-1], "walk(int)")
	s.run(test_flame.GRAPH + "g.focusPicture()")
	s.keys("\ue00c")
	s.same("Escape shows all of it", flame.names(), [])
	s.quiet("flame graph")
	s.keys("/")
	test_flame.check_search(s, flame, report)


def check_views(s, folder, capture):
	s.open(f"{folder}/real.html")
	for tab in s.texts('[role="tab"]'):
		s.tab(tab)
	s.tab("Timeline")
	s.until("return document.querySelectorAll('#panel-timeline canvas').length >= 4")
	ink = s.run("""const c = document.querySelector('#panel-timeline canvas');
		return [...c.getContext('2d').getImageData(0, 0, c.width, c.height).data].filter((v, i) => i % 4 === 3 && v).length""")
	s.check("the timeline is drawn", ink > 1000, ink)
	test_page.table(s, "Stacks")
	s.click("table.rows th button", "stack")
	s.same("a heading sorts", s.run("return document.querySelector('.tables th').getAttribute('aria-sort')"), "ascending")
	s.quiet("views")


def main():
	why = lacking()
	if why:
		skip_all(why)
	with tempfile.TemporaryDirectory(prefix="pmm-web.") as folder:
		made = test_page.captures(folder)
		tried = subprocess.run([PMM, "report", "--format", "html", "-o", f"{folder}/try.html", made["demo"]], capture_output=True, text=True)
		if tried.returncode and "was built without pages" in tried.stderr:
			skip_all("esbuild or libjs-dygraphs was missing when pmm was built")
		os.mkdir(f"{folder}/flame")
		flame = test_flame.capture(f"{folder}/flame")
		with Firefox(folder) as s:
			print(f"# Firefox {s.version}")
			check_watched(s, folder)
			test_page.check_overview(s, folder, made)
			page_of(made["real"], f"{folder}/real.html")
			check_views(s, folder, made["real"])
			check_flame(s, folder, flame, test_flame.json.loads(test_flame.pmm("report", "--json", "--sort", "live", flame)))
	return 1 if s.bad else 0


if __name__ == "__main__":
	sys.exit(main())
