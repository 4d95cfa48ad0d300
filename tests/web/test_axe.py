#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Faults of accessibility, by axe-core, which comes from npm: every view of the page, light and dark, with and without a selection, at
two widths, and the page that compares two captures.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import MKCAPTURE, PMM, ROOT, Session, lacking, page_of, skip_all  # noqa: E402

AXE = "axe-core@4.10.3"
GRAVE = ("serious", "critical")


def axe_core(folder):
	"""The code of axe-core; None where npm cannot fetch it."""
	if not shutil.which("npm"):
		return None
	try:
		subprocess.run(["npm", "pack", "--silent", AXE], cwd=folder, check=True, capture_output=True, timeout=60)
	except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
		return None
	with tarfile.open(f"{folder}/{AXE.replace('@', '-')}.tgz") as packed:
		return packed.extractfile("package/axe.min.js").read().decode()


def capture_of(folder, name, *lines):
	path = f"{folder}/{name}.pmm"
	subprocess.run([MKCAPTURE, "/dev/stdin", path], input="\n".join(lines) + "\n", text=True, check=True)
	return path


def pages(folder):
	"""path of a page by name"""
	made = {}
	for name in ("leaks", "check", "kernel"):
		subprocess.run([MKCAPTURE, f"{ROOT}/tests/cli/golden/{name}.recipe", f"{folder}/{name}.pmm"], check=True)
		made[name] = page_of(f"{folder}/{name}.pmm", f"{folder}/{name}.html")
	with open(f"{folder}/kept.c", "w") as f:
		f.write("#include <stdlib.h>\nvoid *volatile kept;\nint main(void)\n{\n\tkept = malloc(1000);\n\treturn 0;\n}\n")
	subprocess.run(["gcc", "-g", "-o", f"{folder}/kept", f"{folder}/kept.c"], check=True)
	subprocess.run([PMM, "run", "-q", "--leaks", "-o", f"{folder}/real.pmm", "--", f"{folder}/kept"], check=True, stderr=subprocess.DEVNULL)
	made["real, with its source"] = page_of(f"{folder}/real.pmm", f"{folder}/real.html", "--source")
	before = capture_of(folder, "before", "process comm=app", "module app build-id=11", "site app+0x10>app+0x20 allocs=10 size=1000",
			    "site app+0x10>app+0x30 allocs=4 size=500")
	after = capture_of(folder, "after", "process comm=other", "module app build-id=11", "site app+0x10>app+0x20 allocs=13 size=1000",
			   "site app+0x10>app+0x50 allocs=2 size=70")
	made["difference"] = f"{folder}/diff.html"
	subprocess.run([PMM, "diff", "--format", "html", "-o", made["difference"], before, after], check=True, capture_output=True)
	return made


def faults(s):
	"""Of what is shown now: impact, rule, element."""
	return s.driver.execute_async_script("""axe.run({ resultTypes: ["violations"] }).then((r) => arguments[0](r.violations.map((v) =>
		[v.impact, v.id, v.nodes[0].html.slice(0, 160)])), (e) => arguments[0]([["critical", "axe", String(e)]]))""")


# pages of which one view is looked at: the others are like those of the rest
ONE_VIEW = {"check": "#view=errors", "kernel": "#view=tables&table=kernel"}


def look_at(s, axe, name, page, fragment=""):
	"""Every view of a page: how many were looked at, the grave faults."""
	seen, grave = 0, []
	s.open(page, ONE_VIEW.get(name, fragment))
	s.command("Runtime.evaluate", expression=axe)
	if name in ONE_VIEW:
		return 1, [(name, *fault) for fault in faults(s) if fault[0] in GRAVE]
	for tab in s.texts('[role="tab"]'):
		s.tab(tab)
		for kind in s.texts('[role="tabpanel"]:not([hidden]) .kinds button') or [None]:
			if kind:
				s.click('[role="tabpanel"]:not([hidden]) .kinds button', kind)
			seen += 1
			grave += [(name, tab, kind, *fault) for fault in faults(s) if fault[0] in GRAVE]
	return seen, grave


def judge(s, what, name, looked):
	seen, grave = looked
	least = 1 if name in ONE_VIEW else 3 if name == "difference" else 15
	s.check(f"{what}: no serious or critical fault", seen >= least and not grave, "\n".join(map(str, [f"{seen} views", *grave])))


def main():
	why = lacking()
	if why:
		skip_all(why)
	with tempfile.TemporaryDirectory(prefix="pmm-web.") as folder:
		axe = axe_core(folder)
		if axe is None:
			skip_all(f"npm cannot fetch {AXE}")
		try:
			made = pages(folder)
		except subprocess.CalledProcessError as e:
			if "was built without pages" in str(e.stderr):
				skip_all("esbuild or libjs-dygraphs was missing when pmm was built")
			raise
		with Session(folder) as s:
			s.driver.set_script_timeout(60)
			for scheme in ("dark", "light"):
				s.media(prefers_color_scheme=scheme)
				for name, page in made.items():
					judge(s, f"{scheme}, {name}", name, look_at(s, axe, name, page, "#answer=1&select=stacks-0"))
			s.command("Emulation.setDeviceMetricsOverride", width=400, height=700, deviceScaleFactor=1, mobile=False)
			judge(s, "narrow", "narrow", look_at(s, axe, "narrow", made["leaks"]))
			s.run("""const b = document.createElement('button'); document.querySelector('main').append(b);
				const p = document.createElement('p'); p.textContent = 'weak'; p.style.color = 'rgb(230, 230, 230)'; b.before(p)""")
			s.same("what is planted is found", sorted(f[1] for f in faults(s) if f[0] in GRAVE), ["button-name", "color-contrast"])
	return 1 if s.bad else 0


if __name__ == "__main__":
	sys.exit(main())
