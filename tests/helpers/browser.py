"""A headless Chromium, driven over pipes by the DevTools protocol; for tests of heron's pages.

No package is needed, only the browser; tests without one are skipped with a reason.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def find_browser() -> str | None:
    """Return the path of an installed Chromium, or None."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One page of a browser; every call waits until the page has answered."""

    def __init__(self, commands: int, replies: int):
        self._commands = os.fdopen(commands, "wb", buffering=0)
        self._replies = os.fdopen(replies, "rb")
        self._number = 0
        self.errors: list[str] = []
        self._session = ""
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Runtime", "Page", "Log"):
            self._call(f"{domain}.enable")

    def open(self, path: Path, width: int = 1400, height: int = 1000, dark: bool = False) -> None:
        """Load a file and wait until its scripts have run."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._call("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call("Emulation.setEmulatedMedia", features=[scheme])
        address = path.resolve().as_uri()
        self._call("Page.navigate", url=address)
        # Navigation answers before the new document is there; its address tells the two apart.
        here = f"new Promise(done => {{ const look = () => location.href === {json.dumps(address)}"
        self.run(
            here + " && document.readyState === 'complete' ? done() : setTimeout(look, 20);"
            " look(); })"
        )

    def run(self, script: str) -> Any:
        """Evaluate JavaScript, awaiting promises; returns its value as JSON's types."""
        answer = self._call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in answer:
            raise AssertionError(answer["exceptionDetails"].get("exception", answer))
        return answer["result"].get("value")

    def settle(self) -> None:
        """Wait until what was asked for is drawn."""
        self.run("new Promise(done => requestAnimationFrame(() => setTimeout(done, 30)))")

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        """Send a mouse event: `mouseMoved`, `mousePressed`, `mouseReleased`."""
        self._call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def key(self, name: str) -> None:
        """Press a key by its name, such as `ArrowRight`, `Tab`, `5` or `n`."""
        number = {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Escape": 27}
        number |= {"Tab": 9}
        code = {"key": name, "windowsVirtualKeyCode": number.get(name) or ord(name.upper())}
        if len(name) == 1:
            code["code"] = f"{'Digit' if name.isdigit() else 'Key'}{name.upper()}"
        for kind in ("rawKeyDown", "keyUp"):
            self._call("Input.dispatchKeyEvent", type=kind, **code)

    def downloads_to(self, folder: Path) -> None:
        """Let the page save files into `folder`."""
        self._call("Page.setDownloadBehavior", behavior="allow", downloadPath=str(folder))

    def screenshot(self, path: Path, whole: bool = True) -> None:
        """Save what the page looks like."""
        image = self._call("Page.captureScreenshot", captureBeyondViewport=whole)["data"]
        path.write_bytes(base64.b64decode(image))

    def print(self, path: Path) -> None:
        """Save what the page looks like on paper."""
        done = self._call("Page.printToPDF", printBackground=True, landscape=True)
        path.write_bytes(base64.b64decode(done["data"]))

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._commands.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                return dict(answer["result"])
            self._note(answer)

    def _note(self, event: dict[str, Any]) -> None:
        """Keep what the page complains of: exceptions, and refusals such as of the policy."""
        parameters = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(parameters["exceptionDetails"])[:600])
        if event.get("method") == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.errors.append(parameters["entry"]["text"])

    def _read(self) -> dict[str, Any]:
        content = bytearray()
        while (byte := self._replies.read(1)) != b"\0":
            if not byte:
                raise AssertionError("the browser has ended")
            content += byte
        return dict(json.loads(content))


@contextmanager
def browser(path: str) -> Iterator[Browser]:
    """Start a browser and end it with the block."""
    from_us, to_browser = os.pipe()
    from_browser, to_us = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = ["--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--headless"]
        options += [f"--user-data-dir={profile}", "--allow-file-access-from-files"]
        # The browser reads its orders from descriptor 3 and answers on 4.
        start = f'exec "$0" "$@" 3<&{from_us} 4>&{to_us} 2>/dev/null'
        command = ["bash", "-c", start, path, *options]
        process = subprocess.Popen(command, pass_fds=(from_us, to_us))
        os.close(from_us)
        os.close(to_us)
        try:
            yield Browser(to_browser, from_browser)
        finally:
            process.terminate()
            process.wait(10)


# Pages of cards (answers, summaries): how many are chosen and shown, the cards, and the filters.
COUNT = "document.querySelector('[name=count]').textContent"
CARDS = "[...document.querySelectorAll('.card')]"


def choose(page: Browser, name: str, value: str) -> None:
    """Set a filter of a page of cards, as a reader would."""
    page.run(
        f"(() => {{ const field = document.getElementById('cards-filters').elements['{name}'];"
        f" field.value = {value!r};"
        " field.dispatchEvent(new Event('input', {bubbles: true})); })()"
    )
