"""Live progress of a batch: a view on a terminal, one line in a notebook, lines in a log."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Self, TextIO

from pyorch.base.stalls import QUIET, is_stalled
from pyorch.base.units import duration, rounded_time
from pyorch.engine.terminal import Running, Screen, State, Totals, is_drawable, render, stall

SLICES = 100
"""Number of slices in which a run is simulated."""
PLAIN_INTERVAL_S = 10.0
SILENCE_S = 30.0
"""Where there is no terminal a line comes at least this often."""
STANDSTILL_S = 30.0
"""A run stands still when its simulated time has not moved for this long in wall time."""
TERMINAL_INTERVAL_S = 0.2
_HEARTBEAT_WIDTH = 80
_PARTS = 10**12


class Heartbeat:
    """Written while a run simulates, by a thread of its own: how much of the work is over.

    done: that share, from 0 to 1; asked at the start and then every interval. now: its clock [ps].
    moved: a value that is another one whenever something has arrived.
    """

    def __init__(
        self,
        path: Path,
        done: Callable[[], float],
        interval_s: float = TERMINAL_INTERVAL_S,
        now: Callable[[], int] = lambda: 0,
        moved: Callable[[], object] = lambda: None,
    ) -> None:
        self._done = done
        self._now = now
        self._moved = moved
        self._seen: object = None
        self._arrived = 0
        self._interval = interval_s
        self._last = (-1.0, -1)
        self._over = threading.Event()
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o644)
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self.beat()
        self._thread.start()
        return self

    def __exit__(self, failure: object, *_: object) -> None:
        """End the thread; the file stays, and says whether the simulation has come to its end."""
        self._over.set()
        self._thread.join()
        if failure is None:
            with suppress(OSError):  # as in _watch
                self.beat()  # the last look may be long ago: what arrived since is no stall
                self._note(1.0, self._now())
        os.close(self._file)

    def beat(self) -> None:
        """Note how far the run is."""
        share, seen = min(max(self._done(), 0.0), 1.0), self._moved()
        now = self._now()  # after the others: what they have seen arrived until then
        if seen != self._seen:
            self._seen, self._arrived = seen, now
        self._note(share, now)

    def _note(self, share: float, now: int) -> None:
        if (share, now) != self._last:  # a run that hangs gives no sign of life
            self._last = (share, now)
            # one write of a fixed width: a reader sees the old or the new one, never a mixture
            text = f"{round(share * _PARTS)} {_PARTS} {now} {self._arrived}"
            os.pwrite(self._file, text.ljust(_HEARTBEAT_WIDTH).encode(), 0)

    def _watch(self) -> None:
        while not self._over.wait(self._interval):
            with suppress(OSError):  # of a full disk the run itself will tell
                self.beat()


def read_heartbeat(path: Path) -> float:
    """How much of a run is over, 0 to 1; 0 when it has not begun."""
    return read_running(path).share


def read_running(path: Path, title: str = "") -> Running:
    """How far a run is; nowhere when it has not begun."""
    try:
        done, parts, now, last = (int(word) for word in path.read_text(encoding="ascii").split())
        share = min(max(done / parts, 0.0), 1.0)
        # as long as nothing has arrived, a slow beginning is not yet a stall
        stalled = is_stalled(last, now) if last else share >= QUIET
        return Running(title, share, max(now, 0), now - last if stalled else 0)
    except (OSError, ValueError, ZeroDivisionError):
        return Running(title, 0.0)


class Watch:
    """How far a run is, as seen from outside: by its heartbeat and a clock of wall time [s].

    title: of the run; heartbeat: its file, which does not exist before the run simulates.
    """

    def __init__(
        self, title: str, heartbeat: Path, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._title = title
        self._heartbeat = heartbeat
        self._clock = clock
        self._start = clock()
        self._setup: float | None = None  # how long it took [s], once it is over
        self._seen = (0.0, -1)
        self._moved = self._start

    def look(self) -> Running:
        """Return how far the run is now; a standstill is found by repeated calls."""
        age = self._clock() - self._start
        run = read_running(self._heartbeat, self._title)
        if self._setup is None:
            if not self._heartbeat.exists():
                return replace(run, setup=age, is_set_up=False)
            self._setup = age
        if (run.share, run.now) != self._seen:
            self._seen, self._moved = (run.share, run.now), self._clock()
        still = self._clock() - self._moved
        # what has simulated to its end writes tables, which may take its time
        stands = still >= STANDSTILL_S and run.share < 1
        return replace(run, setup=self._setup, still=still if stands else 0.0)


def remaining_s(elapsed_s: float, total: int, finished: int, running: Sequence[Running]) -> float:
    """Time left [s] if work goes on at its speed so far; inf as long as there is no speed.

    elapsed_s: since the start of the batch; finished: runs that ended since. Set-up is no speed:
    until a run has ended, it is that of the runs that simulate, and those still to start take as
    long to be set up. There is none while a run stands still.
    """
    work = finished + sum(run.share for run in running)
    if work == 0 or any(run.still for run in running):
        return float("inf")
    if finished:  # what these took includes their set-up
        return elapsed_s * (total - work) / work
    begun = [run for run in running if run.share > 0]
    spent = [max(elapsed_s - run.setup, TERMINAL_INTERVAL_S) for run in begun]
    speed = sum(run.share / s for run, s in zip(begun, spent, strict=True)) / len(begun)
    setup_s = sum(run.setup for run in begun) / len(begun)
    return ((total - work) / speed + (total - len(running)) * setup_s) / len(running)


def _shown(run: Running) -> str:
    told = stall(run)
    return f"{run.share:.0%}" + (f" ({told} of simulated time)" if told else "")


def _standstill(running: Sequence[Running]) -> str:
    """The run that has stood still the longest, in words; empty if none stands still."""
    still = sorted((run for run in running if run.still), key=lambda run: -run.still)
    if not still:
        return ""
    first, more = still[0], f" (and {len(still) - 1} more)" if len(still) > 1 else ""
    what = f"no progress for {duration(first.still)} of wall time at {rounded_time(first.now)}"
    return f"{what}: {first.title}{more}"


def _is_real(stream: TextIO) -> bool:
    """Whether a stream that says it is a terminal is one, and not a cell of a notebook."""
    try:
        return os.isatty(stream.fileno())
    except (OSError, ValueError):
        return False


def _under_way(running: Sequence[Running]) -> Iterator[str]:
    """Yield what a line says of the runs that are under way."""
    begun = [run for run in running if run.is_set_up]
    if begun:
        yield f"running {' '.join(map(_shown, begun[:8]))}" + (" ..." if len(begun) > 8 else "")
    others = [run for run in running if not run.is_set_up]
    if others:
        count = f"{len(others)} " if len(running) > 1 else ""
        yield f"{count}setting up for {duration(max(run.setup for run in others))}"
    yield _standstill(running)


class Progress:
    """Shows how far a batch is.

    On a terminal a view is kept up to date, in a notebook's cell one line. Elsewhere, and where
    NO_COLOR or TERM=dumb ask for it, a line follows finished runs, at most one every ten seconds
    or a quarter of the time so far, and one the last; while none ends, one comes every 30 s.
    name: of the batch.
    """

    def __init__(
        self,
        total: int,
        stream: TextIO,
        clock: Callable[[], float] = time.monotonic,
        name: str = "",
    ) -> None:
        self.total = total
        self.name = name
        self.totals = Totals()
        self.finished = 0
        self.failed = 0
        self._stream = stream
        self._clock = clock
        self._start = clock()
        self._screen = Screen(stream) if is_drawable(stream) else None
        self._terminal = self._screen is not None or (stream.isatty() and not _is_real(stream))
        self._shown = float("-inf")
        self._line_width = 0

    @property
    def is_due(self) -> bool:
        """Whether `update` would show anything."""
        if self._terminal:
            return self._clock() - self._shown >= TERMINAL_INTERVAL_S
        return self._clock() - max(self._shown, self._start) >= SILENCE_S

    def finish_run(
        self, failed: bool, running: Sequence[Running], summary: Mapping[str, Any] | None = None
    ) -> None:
        """Count a run that ended; summary: its numbers."""
        self.totals.add(summary or {})
        self.finished += 1
        self.failed += failed
        last = self.finished == self.total
        gap = max(PLAIN_INTERVAL_S, (self._clock() - self._start) / 4)
        if self._terminal or last or self._clock() - self._shown >= gap:
            self._show(running)

    def update(self, running: Sequence[Running]) -> None:
        """Bring the line of a terminal up to date, or print one; call it as often as you like."""
        if self.is_due:
            self._show(running)

    def _show(self, running: Sequence[Running]) -> None:
        self._shown = self._clock()
        if self._screen is not None:
            size = shutil.get_terminal_size()
            self._screen.draw(render(self._state(running), size.columns - 1, size.lines))
        elif self._terminal:
            self._overwrite(self.line(running))  # a cell has no width to keep to
        else:
            self._print(self.line(running))

    def message(self, text: str) -> None:
        """Print lines above the progress."""
        if self._screen is not None:
            self._screen.erase()
        elif self._terminal:
            self._overwrite("")
            self._stream.write("\r")
            self._line_width = 0
        self._print(text)

    def close(self) -> None:
        """Leave the line on the terminal and go to the next."""
        if self._terminal and self._line_width:
            self._print("")
            self._line_width = 0

    def line(self, running: Sequence[Running]) -> str:
        """What is shown: runs done, failed, deadlocked, how far the running ones are, time left."""
        parts = [f"{self.finished:,}/{self.total:,} runs"]
        if self.failed:
            parts.append(f"{self.failed} failed")
        if self.totals.deadlocked:
            parts.append(f"{self.totals.deadlocked} deadlocked")
        if self.finished < self.total:
            parts += _under_way(running)
        return ", ".join(filter(None, [*parts, self._left(running)]))

    def _left(self, running: Sequence[Running]) -> str:
        """How long it takes still, or took; empty as long as nobody knows."""
        elapsed = self._clock() - self._start
        if self.finished == self.total:
            return f"took {duration(elapsed)}"
        # a run that fails, often at once, tells nothing of the others
        done, to_do = self.finished - self.failed, self.total - self.failed
        left = remaining_s(elapsed, to_do, done, running)
        return f"{duration(left)} left" if left < float("inf") else ""

    def _state(self, running: Sequence[Running]) -> State:
        counts = (self.name, self.total, self.finished, self.failed)
        elapsed = self._clock() - self._start
        return State(*counts, elapsed, self._left(running), running, self.totals)

    def _overwrite(self, text: str) -> None:
        self._stream.write("\r" + text.ljust(self._line_width))
        self._stream.flush()
        self._line_width = len(text)

    def _print(self, text: str) -> None:
        self._stream.write(text + "\n")
        self._stream.flush()
