"""The local engine: one process a run, at most so many at once, watched by this process."""

from __future__ import annotations

import errno
import os
import selectors
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, TextIO

from pyorch.engine.base import RUN_DONE, RUN_STORAGE, BatchResult, Failure, title
from pyorch.engine.log import log_tail
from pyorch.engine.manifest import write_manifest
from pyorch.files import RESULTS_HINT, STORAGE_ERRORS, storage_error
from pyorch.paths import RESULTS_VARIABLE, ROOT_VARIABLE, Paths, RunPaths
from pyorch.progress import Progress, read_heartbeat
from pyorch.store import Store

if TYPE_CHECKING:
    from pyorch.build.info import BuildInfo
    from pyorch.plan import RunSpec

GRACE_S = 1.2
"""Between SIGTERM and SIGKILL: an interrupted batch is gone within two seconds."""

TICK_S = 0.2

Command = Callable[[Path, int, Path], Sequence[str]]
"""(manifest, index, folder of the attempt) -> what to execute."""


def run_command(manifest: Path, index: int, attempt: Path) -> list[str]:
    """The command that simulates one run of a manifest."""
    module = [sys.executable, "-m", "pyorch.run"]
    return [*module, str(manifest), str(index), "--attempt", str(attempt)]


def usable_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0))


def child_environment(paths: Paths) -> dict[str, str]:
    """The environment of a run: this one's, with the same folders and one thread a process."""
    environment = dict(os.environ)
    environment[ROOT_VARIABLE] = str(paths.root)
    environment[RESULTS_VARIABLE] = str(paths.results)
    environment["PYTHONUNBUFFERED"] = "1"
    # the very package that wrote the manifest, also when it is not installed
    package = str(Path(__file__).resolve().parents[2])
    environment["PYTHONPATH"] = os.pathsep.join(
        filter(None, [package, environment.get("PYTHONPATH")])
    )
    # one process a core: the thread pools of numpy and arrow would only fight for them
    environment["OMP_NUM_THREADS"] = "1"
    environment["OPENBLAS_NUM_THREADS"] = "1"
    environment["CPPYY_CRASH_QUIET"] = "1"
    return environment


@dataclass
class _Child:
    process: subprocess.Popen[bytes]
    pidfd: int
    spec: RunSpec
    hash: str
    attempt: RunPaths


@dataclass
class _Batch:
    """The state of one batch while it runs."""

    manifest: Path
    build: BuildInfo
    waiting: deque[tuple[int, RunSpec]]
    progress: Progress
    children: dict[int, _Child] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    done: int = 0
    interrupts: int = 0
    storage_failed: bool = False

    @property
    def stopping(self) -> bool:
        return self.interrupts > 0 or self.storage_failed

    def fractions(self) -> list[float]:
        return [read_heartbeat(child.attempt.heartbeat) for child in self.children.values()]


class LocalEngine:
    """Runs RunSpecs on this machine.

    jobs: processes at once, by default one per usable core. command: what to execute for a run,
    by default `run_command`. stream: where progress goes, by default standard output.
    """

    def __init__(
        self,
        store: Store,
        jobs: int | None = None,
        command: Command = run_command,
        stream: TextIO | None = None,
        grace_s: float = GRACE_S,
    ) -> None:
        self._store = store
        self._jobs = jobs or usable_cores()
        self._command = command
        self._stream = stream or sys.stdout
        self._grace_s = grace_s

    def run(self, specs: Sequence[RunSpec], build: BuildInfo) -> BatchResult:
        """Run all specs and wait for them.

        SIGINT and SIGTERM end the batch within two seconds. A run that fails does not stop the
        others, a full disk does. Raises UserError when the results folder cannot be written.
        """
        if not specs:
            return BatchResult(done=0, left=0)
        self._store.prepare()
        manifest = self._store.root / f".manifest.{uuid.uuid4().hex}.jsonl"
        progress = Progress(len(specs), self._stream)
        batch = _Batch(manifest, build, deque(enumerate(specs)), progress)
        try:
            write_manifest(manifest, specs, build.fingerprint, build.folder)
            with selectors.DefaultSelector() as selector, _signals(batch, selector):
                try:
                    self._loop(batch, selector)
                finally:
                    self._stop(batch)
        except OSError as error:
            if error.errno not in STORAGE_ERRORS:
                raise
            raise storage_error(error, self._store.root, RESULTS_HINT) from error
        finally:
            progress.close()
            manifest.unlink(missing_ok=True)
        return BatchResult(
            done=batch.done,
            left=len(specs) - batch.done,
            failures=tuple(batch.failures),
            interrupted=batch.interrupts > 0,
            storage_failed=batch.storage_failed,
        )

    def _loop(self, batch: _Batch, selector: selectors.BaseSelector) -> None:
        while (batch.waiting or batch.children) and not batch.stopping:
            while batch.waiting and len(batch.children) < self._jobs and not batch.stopping:
                self._start(batch, selector, *batch.waiting.popleft())
            selector.select(TICK_S)
            for child in [c for c in batch.children.values() if c.process.poll() is not None]:
                self._end(batch, selector, child)
            batch.progress.update(batch.fractions() if batch.progress.is_live else ())

    def _start(
        self, batch: _Batch, selector: selectors.BaseSelector, index: int, spec: RunSpec
    ) -> None:
        run_hash = spec.hash(batch.build.fingerprint)
        attempt = self._store.begin(run_hash)
        with attempt.log.open("ab") as log:
            process = subprocess.Popen(
                self._command(batch.manifest, index, attempt.folder),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self._store.paths.root,
                env={**child_environment(self._store.paths), "PYORCH_PARENT": str(os.getpid())},
                # Ctrl-C on the terminal reaches only this process, which then ends the children
                start_new_session=True,
            )
        pidfd = _open_pidfd(process.pid)
        if pidfd >= 0:
            selector.register(pidfd, selectors.EVENT_READ)
        batch.children[process.pid] = _Child(process, pidfd, spec, run_hash, attempt)

    def _end(self, batch: _Batch, selector: selectors.BaseSelector, child: _Child) -> None:
        """Take note of a process that has ended."""
        del batch.children[child.process.pid]
        if child.pidfd >= 0:
            selector.unregister(child.pidfd)
            os.close(child.pidfd)
        code = child.process.returncode
        if code == RUN_DONE and self._store.is_done(child.hash):
            batch.done += 1
            self._store.discard(child.attempt.folder)
            batch.progress.finish_run(failed=False, running=batch.fractions())
            return
        if code == RUN_STORAGE:
            batch.storage_failed = True
            batch.progress.message(_storage_message(child.attempt))
            self._store.discard(child.attempt.folder)
            return
        failure = self._keep_failure(batch, child)
        batch.failures.append(failure)
        batch.progress.message(failure.render())
        batch.progress.finish_run(failed=True, running=batch.fractions())

    def _keep_failure(self, batch: _Batch, child: _Child) -> Failure:
        """Move a failed attempt to failed/, with the manifest that reproduces it."""
        code = child.process.returncode
        kept = self._store.failure(child.hash)
        with suppress(OSError):  # what cannot be kept must not hide that the run failed
            if child.attempt.folder.exists():
                kept = self._store.fail(child.attempt.folder, child.hash)
            if not kept.spec.exists():
                kept.spec.write_text(child.spec.to_json() + "\n", encoding="utf-8")
            build = batch.build
            write_manifest(kept.manifest, [child.spec], build.fingerprint, build.folder)
        reproduce = shlex.join([sys.executable, "-m", "pyorch.run", str(kept.manifest), "0"])
        return Failure(title(child.spec), child.hash, code, log_tail(kept.log), kept.log, reproduce)

    def _stop(self, batch: _Batch) -> None:
        """End the running processes: SIGTERM, and SIGKILL for those that do not go in time."""
        children = list(batch.children.values())
        _signal_all(children, signal.SIGTERM)
        deadline = time.monotonic() + self._grace_s
        while any(child.process.poll() is None for child in children):
            if time.monotonic() > deadline or batch.interrupts > 1:
                _signal_all(children, signal.SIGKILL)
                break
            time.sleep(0.01)
        for child in children:
            child.process.wait()
            if child.pidfd >= 0:
                os.close(child.pidfd)
            batch.done += self._store.is_done(child.hash)  # it may just have finished
            self._store.discard(child.attempt.folder)
        batch.children.clear()


def _storage_message(attempt: RunPaths) -> str:
    """What a run said that could not write; its log may be empty, as it lies on the same disk."""
    said = log_tail(attempt.log, lines=3)
    if said:
        return said
    folder = attempt.folder.parent
    free = shutil.disk_usage(folder).free
    what = f"a run could not write its results ({free // 1_000_000} MB free)"
    return storage_error(OSError(errno.ENOSPC, what), folder, RESULTS_HINT).render()


def _signal_all(children: Sequence[_Child], number: signal.Signals) -> None:
    """Send a signal to the process groups of the children that still run."""
    for child in children:
        if child.process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(child.process.pid, number)


def _open_pidfd(pid: int) -> int:
    """A descriptor that becomes readable when the process ends; -1 before Linux 5.3."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return -1


@contextmanager
def _signals(batch: _Batch, selector: selectors.BaseSelector) -> Iterator[None]:
    """Count SIGINT and SIGTERM in the batch and wake the selector, instead of raising."""

    def count(_number: int, _frame: FrameType | None) -> None:
        batch.interrupts += 1

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    selector.register(reader, selectors.EVENT_READ)
    try:
        before = [signal.signal(number, count) for number in numbers]
        wakeup = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    except ValueError:  # not the main thread: whoever owns that one handles signals
        yield
        return
    try:
        yield
    finally:
        signal.set_wakeup_fd(wakeup)
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
        reader.close()
        writer.close()
