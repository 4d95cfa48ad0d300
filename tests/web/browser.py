# SPDX-License-Identifier: GPL-2.0-or-later
"""
One browser for many checks, which are said as TAP: Chromium without a window, driven through python3-selenium.

    with Session("page", PLAN) as s:
        s.open(path)
        s.check("what holds", s.text("h1") == "x", "what was found")

After each page that was opened nothing may have failed on the console, and nothing may have been asked of a network.
"""

import json
import os
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, os.environ.get("BUILD", "build"))
PMM = os.path.join(BUILD, "pmm")
MKCAPTURE = os.path.join(BUILD, "tests/fake/mkcapture")
DRIVER = "/usr/bin/chromedriver"
WAIT_SECONDS = 60	# on a machine that does much else


def lacking():
    """What the tests need and the machine does not have."""
    if not shutil.which("chromium"):
        return "chromium is not installed"
    if not os.path.exists(DRIVER):
        return "chromedriver is not installed (Debian: chromium-driver)"
    try:
        import selenium  # noqa: F401
    except ImportError:
        return "selenium is not installed for this python (Debian: python3-selenium, /usr/bin/python3)"
    return None


def skip_all(why):
    print(f"1..1\nok 1 # skip {why}")
    sys.exit(0)


class Session:
    def __init__(self, folder):
        self.folder, self.number, self.bad, self.driver = folder, 0, 0, None

    def __enter__(self):
        from selenium import webdriver
        from selenium.webdriver.chrome.options import Options
        from selenium.webdriver.chrome.service import Service
        options = Options()
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1300,900",
                         "--force-device-scale-factor=1", "--disable-extensions", "--no-first-run", f"--user-data-dir={self.folder}/profile"):
            options.add_argument(argument)
        options.add_experimental_option("prefs", {"download.default_directory": self.folder, "download.prompt_for_download": False})
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(DRIVER))
        self.driver.set_page_load_timeout(WAIT_SECONDS)
        return self

    def __exit__(self, kind, value, trace):
        if self.driver:
            self.driver.quit()
        if kind and not issubclass(kind, SystemExit):
            self.check(f"no exception: {kind.__name__}", False, value)
        print(f"1..{self.number}")
        return False

    # ---- TAP ----

    def check(self, name, holds, found=""):
        self.number += 1
        self.bad += not holds
        print(f"{'ok' if holds else 'not ok'} {self.number} - {name}", flush=True)
        if not holds:
            for line in str(found).splitlines()[:20]:
                print(f"# {line}")

    def skip(self, name, why):
        self.number += 1
        print(f"ok {self.number} - {name} # skip {why}", flush=True)

    def same(self, name, found, expected):
        self.check(name, found == expected, f"found    {found!r}\nexpected {expected!r}")

    # ---- pages ----

    def open(self, path, fragment=""):
        """Open a page and wait until it is there. The same file with another fragment is loaded anew."""
        self.go("about:blank")
        self.logs()
        self.go(f"file://{path}{fragment}")
        self.until("return document.documentElement.dataset.ready || document.querySelector('.failed')")
        self.drawn()

    def drawn(self):
        """Wait for the flame graph, if the page has one: it comes a frame after its place."""
        self.until("return [...document.querySelectorAll('.flame')].every((e) => e.graph && !e.graph.busy)")

    def go(self, url):
        self.driver.get(url)

    def logs(self):
        """(console messages that are no mere notes, addresses that were asked for) since the last time."""
        console = [e["message"] for e in self.driver.get_log("browser") if e["level"] in ("SEVERE", "WARNING")]
        events = [json.loads(e["message"])["message"] for e in self.driver.get_log("performance")]
        asked = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
        return console, [u for u in asked if not u.startswith(("blob:", "data:", "about:"))]

    def quiet(self, name):
        """Nothing failed, and only the page itself was loaded."""
        console, asked = self.logs()
        self.check(f"{name}: no message on the console, no request", not console and len(set(asked)) <= 1 and all(u.startswith("file:") for u in asked),
                   f"{console}\n{asked}")

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def until(self, script, *arguments):
        """Wait until a script gives something; what it gives."""
        end = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < end:
            value = self.run(script, *arguments)
            if value:
                return value
            time.sleep(0.02)
        raise TimeoutError(script)

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0])?.innerText ?? null", selector)

    def texts(self, selector):
        return self.run("return [...document.querySelectorAll(arguments[0])].map((e) => e.innerText)", selector)

    def click(self, selector, text=None):
        """A click on the first such element that is seen (and has that text)."""
        element = self.run("""return [...document.querySelectorAll(arguments[0])].find((e) =>
            e.checkVisibility() && (arguments[1] === null || e.textContent.trim() === arguments[1]))""", selector, text)
        if element is None:
            raise LookupError(f"{selector} {text}")
        element.click()

    def tab(self, title):
        self.click('[role="tab"]', title)
        self.drawn()

    def keys(self, *keys):
        from selenium.webdriver.common.action_chains import ActionChains
        chain = ActionChains(self.driver)
        for key in keys:
            chain.send_keys(key)
        chain.perform()

    def command(self, name, **arguments):
        """A command of Chromium's own protocol."""
        return self.driver.execute_cdp_cmd(name, arguments)

    def media(self, **features):
        self.command("Emulation.setEmulatedMedia", features=[{"name": k.replace("_", "-"), "value": v} for k, v in features.items()])


def pmm(*arguments, **options):
    return subprocess.run([PMM, *arguments], check=True, capture_output=True, text=True, **options).stdout


def page_of(capture, out, *arguments):
    pmm("report", "--format", "html", "-o", out, *arguments, capture)
    return out
