"""How a run becomes a process: a separate command, or a fork of a preloaded process.

Loading the libraries, parsing a header and compiling cppyy's wrappers takes half a second, longer
than many runs. So the engine keeps one process (`pyorch.run.serve`) that has done this, and every
run is a fork of it: just as isolated, but ready in milliseconds.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import socket
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from pyorch.base.files import opened
from pyorch.base.paths import RunPaths, program

MESSAGE_BYTES = 65_536
"""More than any message between the engine and `pyorch.run.serve`."""

Command = Callable[[Path, int, Path], Sequence[str]]
"""(manifest, index, folder of the attempt) -> what to execute."""


class Process(Protocol):
    """A run that was started."""

    @property
    def pid(self) -> int:
        """Its process id, which is also that of its process group; 0 before it has one."""
        ...

    @property
    def is_orphaned(self) -> bool:
        """Whether it ended only because the process that it was forked from died."""
        ...

    def poll(self) -> int | None:
        """Its exit code, negative for a signal; None while it runs."""
        ...

    def wait(self) -> int:
        """Its exit code, once it has ended."""
        ...

    def forget(self) -> None:
        """Release the resources needed to watch it."""
        ...


class Launcher(Protocol):
    """Starts the runs of one manifest."""

    def start(self, index: int, attempt: RunPaths) -> Process:
        """Start a run; its output goes to the attempt's log. Raises OSError."""
        ...

    def close(self) -> None:
        """End running runs; nothing more will be started."""
        ...


class CommandLauncher:
    """Every run is a new program."""

    def __init__(
        self,
        command: Command,
        manifest: Path,
        folder: Path,
        environment: Mapping[str, str],
        selector: selectors.BaseSelector,
    ) -> None:
        self._command = command
        self._manifest = manifest
        self._folder = folder
        self._environment = environment
        self._selector = selector

    def start(self, index: int, attempt: RunPaths) -> Process:
        """Start a run."""
        with opened(attempt.log, "ab") as log:
            process = subprocess.Popen(
                self._command(self._manifest, index, attempt.folder),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self._folder,
                env=self._environment,
                # Ctrl-C on the terminal reaches only this process, which then ends the children
                start_new_session=True,
            )
        return _Program(process, self._selector)

    def close(self) -> None:
        """Nothing to do: every program has been waited for."""


class _Program:
    """A run that is a program of its own."""

    def __init__(self, process: subprocess.Popen[bytes], selector: selectors.BaseSelector) -> None:
        self._process = process
        self._selector = selector
        self._pidfd = _open_pidfd(process.pid)
        if self._pidfd >= 0:
            selector.register(self._pidfd, selectors.EVENT_READ)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_orphaned(self) -> bool:
        return False

    def poll(self) -> int | None:
        return self._process.poll()

    def wait(self) -> int:
        return self._process.wait()

    def forget(self) -> None:
        if self._pidfd >= 0:
            self._selector.unregister(self._pidfd)
            os.close(self._pidfd)
            self._pidfd = -1


def _open_pidfd(pid: int) -> int:
    """A descriptor that becomes readable when the process ends; -1 before Linux 5.3."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return -1


class WarmLauncher:
    """Every run is a fork of one warm process, `pyorch.run.serve`.

    If that process dies, its forks die with it and get its exit code; the next start creates a new
    one. They are orphaned, unless it died of itself before it could fork at all: it would do so
    again.
    """

    def __init__(
        self,
        manifest: Path,
        folder: Path,
        environment: Mapping[str, str],
        selector: selectors.BaseSelector,
        runs: int,
    ) -> None:
        self._manifest = manifest
        self._runs = runs
        self._folder = folder
        self._environment = environment
        self._selector = selector
        self._server: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._forks: dict[int, _Fork] = {}
        self._has_forked = False

    def start(self, index: int, attempt: RunPaths, check: bool = False) -> Process:
        """Start a run. check: only build its network, see `pyorch.engine.preflight`."""
        if self._socket is None:
            self._socket = self._serve(attempt)
        fork = _Fork(self)
        self._forks[index] = fork
        try:
            request = {"index": index, "attempt": str(attempt.folder), "check": check}
            request |= {"manifest": str(self._manifest)}
            self._socket.send(json.dumps(request).encode())
        except OSError:  # it is dying: the one waiting for the run will learn of it
            self._lost()
        return fork

    def follow(self, manifest: Path) -> None:
        """Switch to another manifest of the same build; no run of the last one may be active."""
        self._manifest = manifest
        self._forks.clear()

    def close(self) -> None:
        """End the warm process and everything that it has started."""
        self._end()

    def _end(self) -> int:
        """End the warm process if there is one, and return its exit code."""
        if self._socket is not None:
            self._selector.unregister(self._socket)
            self._socket.close()
            self._socket = None
        server, self._server = self._server, None
        if server is None:
            return 0
        server.kill()  # has no effect on one that has ended
        return server.wait()

    def _serve(self, attempt: RunPaths) -> socket.socket:
        """Start the warm process; its output before its first fork goes to that run's log."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        words = program("pyorch.run.serve")
        with theirs, opened(attempt.log, "ab") as log:
            self._server = subprocess.Popen(
                [*words, str(self._manifest), str(self._runs), str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self._folder,
                env=self._environment,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        self._selector.register(ours, selectors.EVENT_READ)
        self._has_forked = False
        return ours

    def _receive(self, blocking: bool) -> bool:
        """Handle one message; return False if there are no more."""
        if self._socket is None:
            return False
        try:
            message = self._socket.recv(MESSAGE_BYTES, 0 if blocking else socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError:
            message = b""
        if not message:
            self._lost()
            return False
        self._has_forked = True
        content = json.loads(message)
        fork = self._forks[content["index"]]
        fork.pid = content.get("pid", fork.pid)
        fork.code = content.get("code")
        if fork.code is not None:
            del self._forks[content["index"]]
        return True

    def _lost(self) -> None:
        """Record that the warm process is gone."""
        code = self._end()
        for fork in self._forks.values():
            fork.code = code or -9
            fork.is_orphaned = self._has_forked or code == -signal.SIGKILL
        self._forks.clear()

    def poll(self) -> None:
        """Process all available messages."""
        while self._receive(blocking=False):
            pass

    def wait(self, fork: _Fork) -> int:
        """Wait until a fork has ended."""
        while fork.code is None:
            self._receive(blocking=True)
        return fork.code


class _Fork:
    """A run that is a fork of the warm process."""

    def __init__(self, launcher: WarmLauncher) -> None:
        self.pid = 0
        self.code: int | None = None
        self.is_orphaned = False
        self._launcher = launcher

    def poll(self) -> int | None:
        if self.code is None:
            self._launcher.poll()
        return self.code

    def wait(self) -> int:
        return self._launcher.wait(self)

    def forget(self) -> None:
        """Nothing to release."""
