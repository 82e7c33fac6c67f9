"""A headless Chromium, driven by the DevTools protocol over a pair of pipes."""

import contextlib
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")

PATIENCE = 60.0
"""Seconds for an answer of the browser: machines that run tests may be busy."""


def find_browser():
    """Return the path of a Chromium, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page of a headless Chromium; everything it reports is in ``events``."""

    def __init__(self, folder):
        self.events, self._number, self._buffer = [], 0, b""
        there, self._write = os.pipe()
        self._read, back = os.pipe()
        # The browser reads commands from descriptor 3 and writes answers to 4.
        command = 'there=$1 back=$2; shift 2; eval "exec \\"\\$@\\" 3<&$there 4>&$back"'
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
                   "--hide-scrollbars", "--no-first-run", f"--user-data-dir={folder}"]  # fmt: skip
        self._process = subprocess.Popen(
            ["/bin/bash", "-c", command, "sh", str(there), str(back), find_browser(), *options],
            pass_fds=(there, back),
            stderr=subprocess.DEVNULL,
        )
        os.close(there)
        os.close(back)
        target = self._send("Target.createTarget", {"url": "about:blank"})["targetId"]
        attached = self._send("Target.attachToTarget", {"targetId": target, "flatten": True})
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self(f"{domain}.enable")

    def __call__(self, method, **parameters):
        """Send a command to the page and return its result."""
        return self._send(method, parameters, self._session)

    def _send(self, method, parameters, session=None):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        return self._until(lambda m: m.get("id") == self._number, method)["result"]

    def _until(self, wanted, what):
        deadline = time.monotonic() + PATIENCE
        while True:
            while b"\0" in self._buffer:
                text, _, self._buffer = self._buffer.partition(b"\0")
                message = json.loads(text)
                if "method" in message:
                    self.events.append(message)
                if message.get("error") and message.get("id") == self._number:
                    raise RuntimeError(f"{what}: {message['error']}")
                if wanted(message):
                    return message
            left = deadline - time.monotonic()
            if left <= 0.0 or not select.select([self._read], [], [], left)[0]:
                raise TimeoutError(f"the browser does not answer {what}")
            part = os.read(self._read, 1 << 20)
            if not part:
                raise RuntimeError(f"the browser ended before {what}")
            self._buffer += part

    def open(self, path, width=1300, height=900, *, dark=False):
        """Show a file in a window of some size, and forget earlier events."""
        self("Emulation.setDeviceMetricsOverride", width=width, height=height,
             deviceScaleFactor=1, mobile=width < 500)  # fmt: skip
        theme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self("Emulation.setEmulatedMedia", features=[theme])
        self.events.clear()
        self("Page.navigate", url=Path(path).absolute().as_uri())
        self._until(lambda m: m.get("method") == "Page.loadEventFired", "the page")

    def run(self, script):
        """Return the value of a JavaScript expression."""
        found = self("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"])
        return found["result"].get("value")

    def press(self, key, code, text=""):
        """Press and release a key."""
        common = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        self("Input.dispatchKeyEvent", type="keyDown", text=text, **common)
        self("Input.dispatchKeyEvent", type="keyUp", **common)

    def complaints(self):
        """Return what the console has of errors and warnings."""
        found = []
        for event in self.events:
            method, given = event["method"], event["params"]
            if method == "Runtime.exceptionThrown":
                found.append(given["exceptionDetails"])
            elif method == "Runtime.consoleAPICalled" and given["type"] in ("error", "warning"):
                found.append(given["args"])
            elif method == "Log.entryAdded" and given["entry"]["level"] in ("error", "warning"):
                found.append(given["entry"])
        return found

    def requests(self):
        """Return the addresses that the page asked for, but for data in the page itself."""
        asked = (e["params"]["request"]["url"] for e in self.events
                 if e["method"] == "Network.requestWillBeSent")  # fmt: skip
        return [url for url in asked if not url.startswith("data:")]

    def close(self):
        """End the browser."""
        with contextlib.suppress(OSError):
            os.close(self._write)
        os.close(self._read)
        self._process.terminate()
        self._process.wait()
