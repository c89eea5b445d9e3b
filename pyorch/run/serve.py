"""The warm process: python -m pyorch.run.serve MANIFEST RUNS SOCKET, started by the local engine.

It loads once what every run needs, and forks for each run that the engine asks for; a fork does
what `python -m pyorch.run` does, only sooner, or only checks whether modules accept the run. A
message is one JSON object a packet: from the engine {"index", "attempt", "check", "manifest"}, to
the engine {"index", "pid"} when the run has begun and {"index", "code"} when it has ended. When the
engine closes the socket, all ends.
"""

from __future__ import annotations

import gc
import json
import os
import selectors
import signal
import socket
import sys
import tempfile
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyorch.base.ends import no_core_files
from pyorch.base.files import opened
from pyorch.base.paths import RunPaths
from pyorch.engine.launch import MESSAGE_BYTES
from pyorch.engine.manifest import Manifest, read_manifest
from pyorch.metrics import parse
from pyorch.run.process import check_line, end_with_parent, load_class, run_line, versions
from pyorch.run.simulate import simulate

if TYPE_CHECKING:
    from pyorch.plan import RunSpec

NETWORKS_FROM_RUNS = 3
"""From so many runs on it pays to load networkx, although only some kinds of traffic need it."""


def tiny() -> RunSpec:
    """Return a run that calls what every run calls, and simulates next to nothing."""
    from pyorch.network.kinds import Star
    from pyorch.plan import RunSpec
    from pyorch.setting.canonical import RunSection, Setting, Trace
    from pyorch.traffic.kinds import Greedy

    setting = Setting(
        "warm-up",
        RunSection.model_construct(duration=10**8, deadlock_test=0),
        Star.model_construct(kind="star", hosts=2, rate=10**10, delay=10**6),
        [Greedy.model_construct(kind="greedy", src=["h0"], dst=["h1"])],
        attributes={"ns3::lossless::Port": {"Overhead": "20"}},
        flow_control=["ns3::pfc::Pfc"],
        traces=[Trace(table="queue", ports=[["s0", "h0"]], classes=[3])],
    )
    return RunSpec(
        setting, 1, (parse({"name": "top", "kind": "max", "port": "s0:h0", "class": 3}),)
    )


def main(arguments: Sequence[str]) -> int:
    """Serve until the engine closes the socket."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    no_core_files()
    end_with_parent()
    manifest_file, runs = Path(arguments[0]), int(arguments[1])
    engine = socket.socket(fileno=int(arguments[2]))
    server = _Server(engine, manifest_file, *_read(manifest_file))
    _prepare(server.manifest, server.lines[0], networks=runs >= NETWORKS_FROM_RUNS)
    server.serve()
    return 0


def _read(path: Path) -> tuple[Manifest, list[str]]:
    """The first line of a manifest, and the others as they are."""
    return read_manifest(path), path.read_text(encoding="utf-8").splitlines()[1:]


def _prepare(manifest: Manifest, line: str, networks: bool) -> None:
    """Do what each fork would do itself: load, make validators, compile cppyy's wrappers.

    line: of one of the runs. Reading it makes the validators of its kinds; code of a user's own is
    loaded in forks alone. A tiny simulation compiles the wrappers. What fails here fails again, and
    is told, in the run that needs it.
    """
    import pyarrow.parquet  # noqa: F401

    from pyorch.kinds import read_spec

    try:
        if networks:
            import networkx  # noqa: F401

            import pyorch.network.cycles  # noqa: F401
        simulation_class = load_class(manifest)
        with tempfile.TemporaryDirectory(prefix="pyorch-") as folder:
            simulate(tiny(), simulation_class, RunPaths(Path(folder)))
        if not {"kinds", "packages"} & json.loads(line).keys():
            read_spec(line)
    except Exception as error:
        sys.stderr.write(f"not warm: {error}\n")
    versions()
    # what is here stays: forks that never touch it share its memory
    gc.collect()
    gc.freeze()


@dataclass
class _Server:
    """The engine's end of the talk, and the runs that go."""

    engine: socket.socket
    file: Path
    manifest: Manifest
    lines: list[str]

    def serve(self) -> None:
        """Fork for every request and report every end."""
        with selectors.DefaultSelector() as selector:
            selector.register(self.engine, selectors.EVENT_READ)
            while True:
                for key, _ in selector.select():
                    if key.fileobj is not self.engine:
                        self._reap(selector, key)
                        continue
                    message = self.engine.recv(MESSAGE_BYTES)
                    if not message:
                        return
                    request = json.loads(message)
                    if self.file != Path(request["manifest"]):
                        self.file = Path(request["manifest"])
                        self.manifest, self.lines = _read(self.file)
                    self._fork(selector, request)

    def _fork(self, selector: selectors.BaseSelector, request: Mapping[str, Any]) -> None:
        index = int(request["index"])
        pid = os.fork()
        if pid == 0:
            self._become_run(index, Path(request["attempt"]), bool(request["check"]))
        selector.register(os.pidfd_open(pid), selectors.EVENT_READ, (pid, index))
        self._tell(index=index, pid=pid)

    def _reap(self, selector: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
        pid, index = key.data
        _, status = os.waitpid(pid, 0)
        selector.unregister(key.fileobj)
        os.close(key.fd)
        self._tell(index=index, code=os.waitstatus_to_exitcode(status))

    def _tell(self, **content: int) -> None:
        self.engine.send(json.dumps(content).encode())

    def _become_run(self, index: int, attempt: Path, check: bool) -> None:
        """In the fork: do the run, or only check it, and end."""
        code = 1
        try:
            started = time.monotonic()
            os.setsid()  # a process group of its own, as the engine ends runs by group
            self.engine.close()
            log = opened(attempt / "log.txt", "ab")
            os.dup2(log.fileno(), 1)
            os.dup2(log.fileno(), 2)
            log.close()
            line = self.lines[index]
            if check:
                code = check_line(self.manifest, line, attempt)
            else:
                code = run_line(self.manifest, line, attempt, started)
        except BaseException:  # whatever it is, it must be in the log before this process ends
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)  # nothing of the server's is to be tidied up here


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
