# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, driven by the DevTools protocol over two pipes: no port, no library, no network."""
import base64
import collections
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time

# The first that is installed; Debian's package is called chromium.
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
SWITCHES = (
    "--headless", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu", "--disable-dev-shm-usage",
    "--disable-extensions", "--disable-sync", "--disable-background-networking", "--disable-component-update",
    "--no-sandbox",  # containers and root have none; the pages are ours
    "--disable-default-apps", "--metrics-recording-only", "--force-color-profile=srgb",
    "--host-resolver-rules=MAP * ~NOTFOUND",  # not even a page that tries reaches the network
)
# Calls of a slow machine; a page takes milliseconds.
PATIENCE = 120


def find_browser():
    """The path of Chromium, or None."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class BrowserError(Exception):
    pass


class Browser:
    """One page in one browser. events: what Chromium said since the last open(), as (method, parameters)."""

    def __init__(self, program):
        self.folder = tempfile.TemporaryDirectory(prefix="tfaot-browser-", ignore_cleanup_errors=True)
        self.events = []
        self._answers = {}
        self._buffer = b""
        self._next = 0
        their_input, self._output = os.pipe()
        self._input, their_output = os.pipe()
        command = [program, *SWITCHES, f"--user-data-dir={self.folder.name}/profile"]
        # Chromium reads from descriptor 3 and writes to 4.
        shell = f'exec "$@" 3<&{their_input} 4>&{their_output}'
        self._log = open(f"{self.folder.name}/log", "wb")
        environment = dict(os.environ, HOME=self.folder.name, XDG_CONFIG_HOME=f"{self.folder.name}/config",
                           XDG_CACHE_HOME=f"{self.folder.name}/cache")
        self._process = subprocess.Popen(["bash", "-c", shell, "bash", *command], stdin=subprocess.DEVNULL,
                                         stdout=self._log, stderr=self._log, env=environment,
                                         pass_fds=(their_input, their_output))
        os.close(their_input)
        os.close(their_output)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.page(f"{domain}.enable")
        self.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=self.folder.name, eventsEnabled=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close")
            self._process.wait(20)
        except (BrowserError, OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        os.close(self._input)
        os.close(self._output)
        self._log.close()
        self.folder.cleanup()

    def _read(self, deadline):
        """Takes in one message."""
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._input], [], [], max(0, deadline - time.monotonic()))
            part = os.read(self._input, 1 << 16) if ready else b""
            if not part:
                log = pathlib.Path(self.folder.name, "log").read_text(errors="replace")[-2000:]
                raise BrowserError(f"Chromium {'ended' if ready else 'does not answer'}:\n{log}")
            self._buffer += part
        text, self._buffer = self._buffer.split(b"\0", 1)
        message = json.loads(text)
        if "id" in message:
            self._answers[message["id"]] = message
        else:
            self.events.append((message["method"], message.get("params", {})))

    def _send(self, message):
        self._next += 1
        data = json.dumps({"id": self._next, **message}).encode() + b"\0"
        while data:
            data = data[os.write(self._output, data):]
        deadline = time.monotonic() + PATIENCE
        while self._next not in self._answers:
            self._read(deadline)
        answer = self._answers.pop(self._next)
        if "error" in answer:
            raise BrowserError(f"{message['method']}: {answer['error']['message']}")
        return answer["result"]

    def call(self, method, **parameters):
        """A call of the browser."""
        return self._send({"method": method, "params": parameters})

    def page(self, method, **parameters):
        """A call of the page."""
        return self._send({"method": method, "params": parameters, "sessionId": self._session})

    def wait_for(self, method, matches=lambda parameters: True):
        """The parameters of the first such event since the last open()."""
        deadline = time.monotonic() + PATIENCE
        seen = 0
        while True:
            for name, parameters in self.events[seen:]:
                if name == method and matches(parameters):
                    return parameters
            seen = len(self.events)
            self._read(deadline)

    def look(self, width, height, scheme, scale=1):
        """The size of the window in CSS pixels, and "light" or "dark"."""
        self.page("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False)
        self.page("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, file, scripts=True):
        """Loads a file from the disk and waits until it is drawn. Without scripts it only loads it: timers are off then."""
        self.events.clear()
        address = pathlib.Path(file).resolve().as_uri()
        frame = self.page("Page.navigate", url=address)
        if "errorText" in frame:
            raise BrowserError(f"{file}: {frame['errorText']}")
        self.wait_for("Page.loadEventFired")
        if scripts:
            self.run("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)))")
        return address

    def run(self, script):
        """The value of a script's last expression; promises are awaited."""
        answer = self.page("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise BrowserError(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    def press(self, key, code):
        """A key of the keyboard, for the element that has the focus."""
        for kind in ("keyDown", "keyUp"):
            self.page("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code,
                      text="\r" if key == "Enter" and kind == "keyDown" else "")

    def picture(self, file, whole=True):
        """A PNG of the page, or of the window alone."""
        answer = self.page("Page.captureScreenshot", format="png", captureBeyondViewport=whole,
                           **({"clip": self._whole()} if whole else {}))
        pathlib.Path(file).write_bytes(base64.b64decode(answer["data"]))

    def _whole(self):
        size = self.page("Page.getLayoutMetrics")["cssContentSize"]
        return {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}

    def said(self):
        """Everything on the console, and errors of scripts and of the page's policy."""
        texts = []
        for method, parameters in self.events:
            if method == "Runtime.consoleAPICalled":
                texts.append(" ".join(str(one.get("value", one.get("description"))) for one in parameters["args"]))
            elif method == "Runtime.exceptionThrown":
                texts.append(parameters["exceptionDetails"]["text"])
            elif method == "Log.entryAdded":
                texts.append(parameters["entry"]["text"])
        return texts

    def requested(self):
        """The addresses that the page asked for, and how often."""
        return collections.Counter(parameters["request"]["url"] for method, parameters in self.events
                                   if method == "Network.requestWillBeSent")
