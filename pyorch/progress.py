"""Live progress of a batch: a view on a terminal, one line in a notebook, lines in a log."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self, TextIO

from pyorch.terminal import (
    QUIET,
    Running,
    Screen,
    State,
    Totals,
    is_drawable,
    is_stalled,
    render,
    stall,
)

PLAIN_INTERVAL_S = 3.0
SILENCE_S = 30.0
"""Where there is no terminal a line comes at least this often."""
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
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self.beat()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End the thread; the file stays."""
        self._over.set()
        self._thread.join()
        os.close(self._file)

    def beat(self) -> None:
        """Note how far the run is."""
        share, seen = min(max(self._done(), 0.0), 1.0), self._moved()
        now = self._now()  # after the others: what they have seen arrived until then
        if seen != self._seen:
            self._seen, self._arrived = seen, now
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


def remaining_s(elapsed_s: float, total: int, finished: int, running: Sequence[float]) -> float:
    """Time left [s] when work goes on at the speed so far; inf as long as there is no speed.

    finished: runs that ended since the start; running: fractions of the running ones.
    """
    work = finished + sum(running)
    return elapsed_s * (total - work) / work if work > 0 else float("inf")


def duration(seconds: float) -> str:
    """A time for people: "8 s", "3 min 20 s", "2 h 5 min"."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def _shown(run: Running) -> str:
    told = stall(run)
    return f"{run.share:.0%}" + (f" ({told} of simulated time)" if told else "")


def _is_real(stream: TextIO) -> bool:
    """Whether a stream that says it is a terminal is one, and not a cell of a notebook."""
    try:
        return os.isatty(stream.fileno())
    except (OSError, ValueError):
        return False


class Progress:
    """Shows how far a batch is.

    On a terminal a view is kept up to date, in a notebook's cell one line. Elsewhere, and where
    NO_COLOR or TERM=dumb ask for it, a line follows finished runs, at most one every three seconds,
    and one the last; while none ends, one comes every 30 s. name: of the batch.
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
        if self._terminal or last or self._clock() - self._shown >= PLAIN_INTERVAL_S:
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
            columns = shutil.get_terminal_size().columns
            self._overwrite(self.line(running)[: columns - 1])
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
        if running and self.finished < self.total:
            shown = " ".join(map(_shown, running[:8]))
            parts.append(f"running {shown}" + (" ..." if len(running) > 8 else ""))
        return ", ".join(filter(None, [*parts, self._left(running)]))

    def _left(self, running: Sequence[Running]) -> str:
        """How long it takes still, or took; empty as long as nobody knows."""
        elapsed = self._clock() - self._start
        if self.finished == self.total:
            return f"took {duration(elapsed)}"
        shares = [run.share for run in running]
        left = remaining_s(elapsed, self.total, self.finished, shares)
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
