"""The local engine: one process per run, a limited number at once, watched by this process."""

from __future__ import annotations

import errno
import os
import selectors
import shlex
import shutil
import signal
import socket
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

from pyorch.base import ends
from pyorch.base.errors import Problem
from pyorch.base.files import RESULTS_HINT, STORAGE_ERRORS, storage_error, telling, write_atomically
from pyorch.base.fingerprint import modules_of
from pyorch.base.paths import RESULTS_VARIABLE, ROOT_VARIABLE, Paths, RunPaths, program, python_path
from pyorch.base.units import duration, rounded_time
from pyorch.engine import cores
from pyorch.engine.base import (
    RUN_DONE,
    RUN_LEFT,
    RUN_STORAGE,
    BatchResult,
    Failure,
    Refusal,
    describe_exit,
    repeated,
)
from pyorch.engine.cores import threads_of
from pyorch.engine.launch import Command, CommandLauncher, Launcher, Process, WarmLauncher
from pyorch.engine.log import FRAME, log_tail
from pyorch.engine.manifest import write_manifest
from pyorch.engine.preflight import Preflight
from pyorch.store.store import Store

if TYPE_CHECKING:
    from pyorch.build.info import BuildInfo
    from pyorch.engine.progress import Progress, Watch
    from pyorch.engine.terminal import Running
    from pyorch.plan import RunSpec

GRACE_S = 1.2
"""Between SIGTERM and SIGKILL: an interrupted batch is gone within two seconds."""

TICK_S = 0.2
CRASHES = {signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL}
LOOK_S = 1.0
"""Between looks at the heartbeats, which tell how long a run has stood still."""
MANY_RUNS = 1_000
"""The number of runs that a kept warm process is told to expect."""


def child_environment(paths: Paths) -> dict[str, str]:
    """The environment of a run: this one's, with the same folders and one thread per process."""
    environment = dict(os.environ)
    environment[ROOT_VARIABLE] = str(paths.root)
    environment[RESULTS_VARIABLE] = str(paths.results)
    environment["PYTHONUNBUFFERED"] = "1"
    environment["PYTHONPATH"] = python_path()
    # one process per core: thread pools of numpy and arrow would only compete for them
    environment["OMP_NUM_THREADS"] = "1"
    environment["OPENBLAS_NUM_THREADS"] = "1"
    return environment


@dataclass
class _Child:
    index: int
    process: Process
    spec: RunSpec
    hash: str
    attempt: RunPaths
    watch: Watch
    began: float | None = None  # on the monotonic clock [s], once it is a process
    is_late: bool = False


@dataclass
class _Batch:
    """The state of one batch while it runs."""

    manifest: Path
    build: BuildInfo
    waiting: deque[tuple[int, RunSpec]]
    progress: Progress
    jobs: int
    """Runs at once."""
    children: dict[int, _Child] = field(default_factory=dict)
    orphans: deque[tuple[int, RunSpec]] = field(default_factory=deque)
    """Runs to be tried again: their warm process died, maybe of one of them."""
    suspects: set[int] = field(default_factory=set)
    """Runs that were orphaned once."""
    looked: float = 0.0
    failures: list[Failure] = field(default_factory=list)
    told: set[tuple[str, str]] = field(default_factory=set)
    """Reasons of failures that were told."""
    done: int = 0
    interrupts: int = 0
    storage_failed: bool = False

    @property
    def stopping(self) -> bool:
        return self.interrupts > 0 or self.storage_failed

    def running(self) -> list[Running]:
        self.looked = time.monotonic()
        return [child.watch.look() for child in self.children.values()]

    def next_run(self) -> tuple[int, RunSpec] | None:
        """The run to start now, if any: orphans one at a time, to find which one is at fault."""
        if self.stopping or len(self.children) >= self.jobs:
            return None
        if self.orphans:
            return None if self.children else self.orphans.popleft()
        if not self.waiting or not self.suspects.isdisjoint(self.children):
            return None
        return self.waiting.popleft()


class LocalEngine:
    """Runs RunSpecs on this machine.

    jobs: processes at once, by default one for each usable core, or for the cores that the threads
    of a run take. command: what to execute for a run; by default a run is a fork of one warm
    process (`pyorch.run.serve`). stream: output of progress, by
    default standard output. As a context it keeps the warm process from batch to batch of one
    build, which pays off for many small ones.
    """

    def __init__(
        self,
        store: Store,
        jobs: int | None = None,
        command: Command | None = None,
        stream: TextIO | None = None,
        grace_s: float = GRACE_S,
    ) -> None:
        self._store = store
        self._jobs = jobs
        self._command = command
        self._stream = stream or sys.stdout
        self._grace_s = grace_s
        self._kept: selectors.BaseSelector | None = None
        self._warm: WarmLauncher | None = None

    def __enter__(self) -> LocalEngine:
        self._kept = selectors.DefaultSelector()
        return self

    def __exit__(self, *_: object) -> None:
        if self._warm is not None:
            self._warm.close()
        if self._kept is not None:
            self._kept.close()
        self._kept, self._warm = None, None

    def run(
        self, specs: Sequence[RunSpec], build: BuildInfo, shown: Sequence[RunSpec] | None = None
    ) -> BatchResult:
        """Run all specs and wait for them.

        shown: runs that are done, to have the networks of several runs that none of these has
        checked first; if modules refuse one, nothing is simulated. SIGINT and SIGTERM end the batch
        within two seconds. A failing run does not stop the others, a full disk does. Raises
        UserError if the results folder cannot be written, and if a run asks for more threads than
        there are cores.
        """
        here = cores.usable_cores()
        runs = min(len(specs), self._jobs or here)
        threads = threads_of(specs, here, runs, "this machine gives this process")
        return self._batch(specs, build, shown, self._loop, threads)

    def check(
        self, specs: Sequence[RunSpec], build: BuildInfo, shown: Sequence[RunSpec]
    ) -> BatchResult:
        """Check networks as `run` does, and run nothing. Raises UserError like it."""
        threads = threads_of(specs, sys.maxsize, sys.maxsize, "")  # they may run elsewhere
        return self._batch(specs, build, shown, lambda *_: None, threads)

    def _batch(
        self,
        specs: Sequence[RunSpec],
        build: BuildInfo,
        shown: Sequence[RunSpec] | None,
        go: Callable[[_Batch, selectors.BaseSelector, Launcher], None],
        threads: int,
    ) -> BatchResult:
        from pyorch.engine.progress import Progress  # not loaded by `show`, which runs nothing

        if not specs:
            return BatchResult(done=0, left=0)
        self._store.prepare()
        manifest = self._store.root / f".manifest.{uuid.uuid4().hex}.jsonl"
        progress = Progress(len(specs), self._stream, name=self._store.name)
        jobs = self._jobs or max(1, cores.usable_cores() // threads)
        batch = _Batch(manifest, build, deque(enumerate(specs)), progress, jobs)
        refusals: tuple[Refusal, ...] = ()
        with (
            telling(self._store.root, RESULTS_HINT, only=STORAGE_ERRORS),
            self._watching() as selector,
            _signals(batch, selector),
        ):
            try:
                write_manifest(manifest, specs, build.fingerprint, build.folder, threads)
                launcher = self._launcher(manifest, selector, len(specs))
                try:
                    if shown is not None:
                        refusals = self._check(batch, selector, launcher, specs, shown)
                    if not refusals:
                        go(batch, selector, launcher)
                finally:
                    self._stop(batch, launcher)
            finally:
                progress.close()
                for line in repeated(batch.failures):
                    progress.message(line)
                manifest.unlink(missing_ok=True)
        return BatchResult(
            done=batch.done,
            left=len(specs) - batch.done,
            failures=tuple(batch.failures),
            refusals=refusals,
            interrupted=batch.interrupts > 0,
            storage_failed=batch.storage_failed,
        )

    def _check(
        self,
        batch: _Batch,
        selector: selectors.BaseSelector,
        launcher: Launcher,
        specs: Sequence[RunSpec],
        shown: Sequence[RunSpec],
    ) -> tuple[Refusal, ...]:
        """What the networks of several runs are refused for; a single run would tell it as soon."""
        if len(specs) == 1 or not isinstance(launcher, WarmLauncher):
            return ()

        def go_on() -> bool:
            selector.select(TICK_S)
            return not batch.stopping

        preflight = Preflight(self._store, launcher, batch.jobs, go_on)
        return preflight.check(specs, shown)

    @contextmanager
    def _watching(self) -> Iterator[selectors.BaseSelector]:
        """Provide the selector of a batch: its own, or the one that is kept."""
        if self._kept is not None:
            yield self._kept
            return
        with selectors.DefaultSelector() as selector:
            yield selector

    def _launcher(self, manifest: Path, selector: selectors.BaseSelector, runs: int) -> Launcher:
        if self._warm is not None:
            self._warm.follow(manifest)
            return self._warm
        folder = self._store.paths.root
        environment = {**child_environment(self._store.paths), "PYORCH_PARENT": str(os.getpid())}
        if self._command is None:
            many = runs if self._kept is None else MANY_RUNS
            launcher = WarmLauncher(manifest, folder, environment, selector, many)
            self._warm = None if self._kept is None else launcher
            return launcher
        return CommandLauncher(self._command, manifest, folder, environment, selector)

    def _loop(self, batch: _Batch, selector: selectors.BaseSelector, launcher: Launcher) -> None:
        while (batch.waiting or batch.orphans or batch.children) and not batch.stopping:
            while (chosen := batch.next_run()) is not None:
                self._start(batch, launcher, *chosen)
            selector.select(TICK_S)
            for child in [c for c in batch.children.values() if c.process.poll() is not None]:
                self._end(batch, child)
            for child in batch.children.values():
                _limit(child)
            if batch.progress.is_due or time.monotonic() - batch.looked >= LOOK_S:
                batch.progress.update(batch.running())

    def _start(self, batch: _Batch, launcher: Launcher, index: int, spec: RunSpec) -> None:
        run_hash = spec.hash(batch.build.fingerprint)
        if self._store.is_done(run_hash):  # another process has made it since the batch began
            batch.done += 1
            batch.progress.finish_run(failed=False, running=batch.running())
            return
        from pyorch.engine.progress import Watch

        attempt = self._store.begin(run_hash)
        process = launcher.start(index, attempt)
        watch = Watch(spec.title, attempt.heartbeat)
        batch.children[index] = _Child(index, process, spec, run_hash, attempt, watch)

    def _end(self, batch: _Batch, child: _Child) -> None:
        """Handle a process that has ended."""
        batch.children = {i: c for i, c in batch.children.items() if c is not child}
        child.process.forget()
        code = child.process.wait()
        if code == RUN_DONE and self._store.is_done(child.hash):
            batch.done += 1
            self._store.discard(child.attempt.folder)
            summary = self._store.read_summary(child.hash)["summary"]
            batch.progress.finish_run(failed=False, running=batch.running(), summary=summary)
            return
        if not self._store.runs.is_dir():  # for every run the same
            batch.storage_failed = True
            batch.progress.message(_gone(self._store.runs))
            return
        if code == RUN_STORAGE:
            batch.storage_failed = True
            batch.progress.message(_storage_message(child.attempt))
            self._store.discard(child.attempt.folder)
            return
        if child.process.is_orphaned and child.index not in batch.suspects:
            self._try_again(batch, child)
            return
        failure = self._keep_failure(batch, child)
        batch.failures.append(failure)
        if failure.reason not in batch.told:
            batch.told.add(failure.reason)
            batch.progress.message(failure.render())
        batch.progress.finish_run(failed=True, running=batch.running())

    def _try_again(self, batch: _Batch, child: _Child) -> None:
        """Plan to repeat a run whose warm process died, and say so once for all of them."""
        if not batch.orphans:
            how = describe_exit(child.process.wait())
            what = "its runs are tried again, one at a time"
            batch.progress.message(f"the process that runs are forks of {how}: {what}")
        batch.suspects.add(child.index)
        batch.orphans.append((child.index, child.spec))
        self._store.discard(child.attempt.folder)

    def _keep_failure(self, batch: _Batch, child: _Child) -> Failure:
        """Move a failed attempt to failed/, with the manifest that reproduces it."""
        code = child.process.wait()
        why, facts = _why(child), [*_facts(child, batch.build.fingerprint)]
        kept = self._store.failure(child.hash)
        with suppress(OSError):  # failing to keep it must not hide that the run failed
            if child.attempt.folder.exists():
                kept = self._store.fail(child.attempt.folder, child.hash)
            if not kept.spec.exists():
                write_atomically(kept.spec, child.spec.to_json() + "\n")
            build = batch.build
            write_manifest(kept.manifest, [child.spec], build.fingerprint, build.folder)
        reproduce = shlex.join([*program("pyorch.run"), str(kept.manifest), "0"])
        said = log_tail(kept.log)
        if -code in CRASHES and FRAME not in said:
            facts.append(f"backtrace: gdb -batch -ex run -ex backtrace --args {reproduce}")
        is_told = bool(why) or (said != "" and code > 0 and code != RUN_LEFT)
        of_run = (child.spec.title, child.hash, code, said, kept.log, reproduce)
        return Failure(*of_run, why, () if is_told else tuple(facts))

    def _stop(self, batch: _Batch, launcher: Launcher) -> None:
        """End the running processes: SIGTERM, then SIGKILL for those that do not end in time."""
        children = list(batch.children.values())
        deadline = time.monotonic() + self._grace_s
        told: set[int] = set()
        while alive := [c for c in children if c.process.poll() is None]:
            if time.monotonic() > deadline or batch.interrupts > 1:
                break
            told |= {
                c.process.pid
                for c in alive
                if c.process.pid not in told and _signal(c, signal.SIGTERM)
            }
            time.sleep(0.01)
        while alive := [c for c in children if c.process.poll() is None and c.process.pid]:
            for child in alive:
                _signal(child, signal.SIGKILL)
            time.sleep(0.01)
        if launcher is not self._warm or batch.stopping:
            launcher.close()  # this also ends runs that had not started
        for child in children:
            child.process.forget()
            batch.done += self._store.is_done(child.hash)  # it may have just finished
            self._store.discard(child.attempt.folder)
        batch.children.clear()


def _limit(child: _Child) -> None:
    """End a run that has taken more wall time than it may."""
    now = time.monotonic()
    if child.began is None and child.process.pid:
        child.began = now
    limit = child.spec.time_limit
    if limit is not None and child.began is not None and now - child.began > limit:
        child.is_late = child.is_late or _signal(child, signal.SIGKILL)


def _why(child: _Child) -> str:
    """What the engine knows of the end of a run; empty if its exit code tells it all."""
    if child.is_late and child.spec.time_limit is not None:
        limit = duration(child.spec.time_limit)
        return f"was ended: it took longer than {limit} of wall time, `time_limit` of [run]"
    if child.process.is_orphaned:
        end = describe_exit(child.process.wait())
        return f"was under way both times when the process it is a fork of {end}, at last alone"
    if not child.attempt.folder.exists():
        return f"lost its folder, {child.attempt.folder}: something deleted or moved it"
    return ""


def _facts(child: _Child, fingerprint: str) -> Iterator[str]:
    """Yield what helps to find why a run ended whose log does not say it: its time, its modules."""
    run = child.watch.look()
    end = rounded_time(child.spec.setting.run.latest_end)
    at = "before it simulated anything"
    if run.is_set_up:  # a heartbeat may be a second old, in which a short run does all it does
        at = f"at {rounded_time(run.now)} of {end} by its last heartbeat, or later"
    yield f"it ended:  {at}"
    own = sorted(modules_of(fingerprint, child.spec.types) - modules_of(fingerprint, ()))
    if own:  # beside those of every run
        yield f"modules:   {', '.join(own)}"


def _gone(folder: Path) -> str:
    """The message when the folder of the results vanished."""
    what = "the folder of the results is gone: it was deleted or moved while runs wrote to it"
    return Problem(str(folder), what, None, "repeat the command for what is missing").render()


def _storage_message(attempt: RunPaths) -> str:
    """The message of a run that could not write; its log, on the same disk, may be empty."""
    said = log_tail(attempt.log, lines=3)
    if said:
        return said
    folder = attempt.folder.parent
    free = shutil.disk_usage(folder).free
    what = f"a run could not write its results ({free // 1_000_000} MB free)"
    return storage_error(OSError(errno.ENOSPC, what), folder, RESULTS_HINT).render()


def _signal(child: _Child, number: signal.Signals) -> bool:
    """Send a signal to the process group of a child; False if it has none yet, or no longer."""
    if child.process.pid == 0:
        return False
    try:
        os.killpg(child.process.pid, number)
    except ProcessLookupError:
        return False
    return True


@contextmanager
def _signals(batch: _Batch, selector: selectors.BaseSelector) -> Iterator[None]:
    """Count the signals that end the batch and wake the selector, instead of ending at once."""

    def count(number: int, _frame: FrameType | None) -> None:
        batch.interrupts += 1
        ends.note(number)

    numbers = ends.watched()
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    selector.register(reader, selectors.EVENT_READ)
    try:
        before = [signal.signal(number, count) for number in numbers]
        wakeup = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    except ValueError:  # not the main thread, whose owner handles signals
        yield
        return
    try:
        yield
    finally:
        signal.set_wakeup_fd(wakeup)
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
        selector.unregister(reader)
        reader.close()
        writer.close()
