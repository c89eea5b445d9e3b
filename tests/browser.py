"""A real browser without a window: Chromium, spoken to over a pipe in the DevTools protocol."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
HINT = "install it: apt-get install --no-install-recommends chromium"
_LIMIT_S = 120.0


def program() -> str | None:
    """The browser on this machine, None when there is none."""
    return next((found for name in PROGRAMS if (found := shutil.which(name))), None)


@dataclass
class Seen:
    """A page's console errors and the addresses that it loaded."""

    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


class Browser:
    """A browser with one page. Use it as a context manager."""

    def __init__(self) -> None:
        found = program()
        if found is None:
            raise FileNotFoundError(HINT)
        self._profile = tempfile.TemporaryDirectory()
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        command = f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}'
        options = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-extensions",
            "--disable-background-networking",
            f"--user-data-dir={self._profile.name}",
            "--remote-debugging-pipe",
        ]
        self._process = subprocess.Popen(
            ["bash", "-c", command, found, *options],
            pass_fds=(to_browser, from_browser),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._number, self._rest, self._session = 0, b"", ""
        self.seen = Seen()
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with contextlib.suppress(OSError):
            os.close(self._out)  # a browser whose pipe is closed ends by itself
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._in)
        with contextlib.suppress(OSError):
            self._profile.cleanup()

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """One command and its result. Raises RuntimeError when the browser refuses it."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._out, data) :]
        for answer in self._messages():
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return dict(answer["result"])
        raise RuntimeError(f"{method}: the browser has gone")

    def _messages(self) -> Iterator[dict[str, Any]]:
        until = time.monotonic() + _LIMIT_S
        while True:
            while b"\0" in self._rest:
                one, _, self._rest = self._rest.partition(b"\0")
                message = json.loads(one)
                self._note(message)
                yield message
            ready, _, _ = select.select([self._in], [], [], max(until - time.monotonic(), 0))
            if not ready:
                raise TimeoutError(f"no answer of the browser in {_LIMIT_S} s")
            more = os.read(self._in, 1 << 16)
            if not more:
                return
            self._rest += more

    def _note(self, message: dict[str, Any]) -> None:
        """Keep what went wrong on the page, and what it asked for."""
        params = message.get("params", {})
        match message.get("method"):
            case "Runtime.exceptionThrown":
                self.seen.errors.append(json.dumps(params["exceptionDetails"]))
            case "Runtime.consoleAPICalled" if params["type"] in ("error", "assert", "warning"):
                self.seen.errors.append(json.dumps(params["args"]))
            case "Log.entryAdded" if params["entry"]["level"] in ("error", "warning"):
                self.seen.errors.append(json.dumps(params["entry"]))
            case "Network.requestWillBeSent":
                self.seen.requests.append(params["request"]["url"])

    def open(self, page: Path, *, dark: bool = False, width: int = 1100, height: int = 900) -> Seen:
        """Open a file, wait until it is ready, and return its console errors and requests."""
        self.seen = Seen()
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        self.call("Page.navigate", url=page.resolve().as_uri())
        ready = (
            "document.readyState === 'complete' && (document.documentElement.dataset.ready"
            " === 'yes' || !document.querySelector('script:not([type])'))"
        )
        self.wait_for(ready)
        return self.seen

    def wait_for(self, expression: str) -> None:
        """Wait until an expression holds on the page. Raises TimeoutError."""
        until = time.monotonic() + _LIMIT_S
        while not self.value(expression):
            if time.monotonic() > until or self.seen.errors:
                raise TimeoutError(f"{expression}: never; {self.seen.errors}")
            time.sleep(0.05)

    def value(self, expression: str) -> Any:
        """What an expression gives on the page. Raises RuntimeError when it throws."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def screenshot(self, file: Path, *, whole: bool = True) -> None:
        """Save the page as a PNG, all of it or only what the window shows."""
        answer = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        file.write_bytes(base64.b64decode(answer["data"]))
