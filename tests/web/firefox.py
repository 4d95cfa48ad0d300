# SPDX-License-Identifier: GPL-2.0-or-later
"""
Firefox for the same checks as browser.py's, without geckodriver: through Marionette, its own protocol. That is a TCP connection to this machine alone,
to a port that Firefox chooses; a message is its length, a colon and [0, number, command, parameters], or [1, number, error, result] back.
"""

import json
import os
import shutil
import socket
import subprocess
import time

from browser import WAIT_SECONDS, Session

FIREFOX = "firefox-esr"
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"	# as WebDriver names a reference
START_SECONDS = 60
PREFERENCES = {
    "marionette.port": 0, "app.update.enabled": False, "app.normandy.enabled": False, "browser.safebrowsing.enabled": False,
    "browser.shell.checkDefaultBrowser": False, "browser.startup.homepage_override.mstone": "ignore", "browser.startup.page": 0,
    "devtools.console.stdout.content": True,
    "datareporting.policy.dataSubmissionEnabled": False, "network.captive-portal-service.enabled": False, "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,", "toolkit.telemetry.enabled": False, "ui.prefersReducedMotion": 1, "ui.systemUsesDarkTheme": 0,
}

# In the browser's own process: what the consoles of pages said, and what pages asked of the network.
WATCH = """const w = Services.wm.getMostRecentWindow("navigator:browser");
w.pmmAsked = [];
Services.obs.addObserver({ observe(channel) {
	channel.QueryInterface(Ci.nsIHttpChannel);
	const from = channel.loadInfo?.triggeringPrincipal;
	if (from?.schemeIs("file"))
		w.pmmAsked.push(channel.URI.spec);
} }, "http-on-opening-request");"""
LOGS = """const asked = Services.wm.getMostRecentWindow("navigator:browser").pmmAsked.splice(0);
const ofPage = (m) => m instanceof Ci.nsIScriptError && /^(file|blob):/.test(m.sourceName);
const said = Services.console.getMessageArray().filter(ofPage).map((m) => m.errorMessage);
Services.console.reset();
return [said, asked];"""


def lacking():
    return None if shutil.which(FIREFOX) else f"{FIREFOX} is not installed (apt-get install firefox-esr; of 312 MB, so tools/deps leaves it out)"


class Element:
    def __init__(self, session, reference):
        self.session, self.reference = session, reference

    def click(self):
        self.session.ask("WebDriver:ElementClick", id=self.reference)


class Firefox(Session):
    """Like Session, but for what only Chromium's protocol can do."""

    def __enter__(self):
        self.profile = f"{self.folder}/firefox"
        os.mkdir(self.profile)
        with open(f"{self.profile}/user.js", "w") as f:
            f.writelines(f'user_pref("{name}", {json.dumps(value)});\n' for name, value in PREFERENCES.items())
        self.last, self.socket = 0, None
        with open(f"{self.folder}/firefox.log", "ab") as out:
            self.start(out)
        self.log = open(f"{self.folder}/firefox.log", "rb")
        try:
            self.connect()
        except BaseException:
            self.end()
            raise
        return self

    def start(self, out):
        self.process = subprocess.Popen([FIREFOX, "--headless", "--no-remote", "--marionette", "--remote-allow-system-access",
                                         "--width", "1300", "--height", "900", "--profile", self.profile], env=dict(os.environ, HOME=self.folder),
                                        stdin=subprocess.DEVNULL, stdout=out, stderr=out)

    def connect(self):
        port, end = f"{self.profile}/MarionetteActivePort", time.monotonic() + START_SECONDS
        while not (os.path.exists(port) and os.path.getsize(port)):
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"{FIREFOX} did not start: {self.log.read()[-500:]}")
            time.sleep(0.05)
        with open(port) as f:
            self.socket = socket.create_connection(("127.0.0.1", int(f.read())), timeout=START_SECONDS)
        self.stream = self.socket.makefile("rb")
        self.receive()	# who it is
        self.version = self.ask("WebDriver:NewSession", capabilities={})["capabilities"]["browserVersion"]
        self.chrome(WATCH)

    def end(self):
        """Firefox ends by itself when it is asked to; it and its children are of no use after that."""
        if self.socket:
            try:
                self.ask("Marionette:Quit")
            except (OSError, RuntimeError, ValueError):
                self.process.terminate()
            self.socket.close()
        else:
            self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def __exit__(self, kind, value, trace):
        self.end()
        self.log.close()
        return super().__exit__(kind, value, trace)

    def receive(self):
        length = b""
        while (c := self.stream.read(1)) != b":":
            if not c.isdigit():
                raise RuntimeError(f"{FIREFOX} has ended")
            length += c
        return json.loads(self.stream.read(int(length)))

    def ask(self, command, **parameters):
        self.last += 1
        message = json.dumps([0, self.last, command, parameters]).encode()
        self.socket.sendall(b"%d:%s" % (len(message), message))
        _, _, error, result = self.receive()
        if error:
            raise RuntimeError(f"{command}: {error['error']}: {error['message']}")
        return result

    def chrome(self, script):
        """A script of the browser itself."""
        self.ask("Marionette:SetContext", value="chrome")
        try:
            return self.ask("WebDriver:ExecuteScript", script=script, args=[])["value"]
        finally:
            self.ask("Marionette:SetContext", value="content")

    # ---- what Session does by selenium ----

    def go(self, url):
        self.ask("WebDriver:Navigate", url=url)

    def logs(self):
        """What pages logged themselves is in what Firefox prints."""
        console, asked = self.chrome(LOGS)
        return console + [line for line in self.log.read().decode(errors="replace").splitlines() if line.startswith(("console.error", "console.warn"))], asked

    def quiet(self, name):
        console, asked = self.logs()
        self.check(f"{name}: no message on the console, no request", not console and not asked, f"{console}\n{asked}")

    def run(self, script, *arguments):
        value = self.ask("WebDriver:ExecuteScript", script=script, args=arguments)["value"]
        return Element(self, value[ELEMENT]) if isinstance(value, dict) and ELEMENT in value else value

    def keys(self, *keys):
        actions = [{"type": kind, "value": c} for key in keys for c in key for kind in ("keyDown", "keyUp")]
        self.ask("WebDriver:PerformActions", actions=[{"type": "key", "id": "keyboard", "actions": actions}])

    def press(self, place):
        """A click at a place in the window."""
        self.ask("WebDriver:PerformActions", actions=[{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": [
            {"type": "pointerMove", "x": round(place[0]), "y": round(place[1]), "duration": 0}, {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0}]}])

    def media(self, scheme):
        self.chrome(f"Services.prefs.setIntPref('layout.css.prefers-color-scheme.content-override', {int(scheme == 'light')})")
