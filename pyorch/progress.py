"""Live progress of a batch: one updating line on a terminal, now and then a line elsewhere."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self, TextIO

PLAIN_INTERVAL_S = 3.0
SILENCE_S = 30.0
"""Where there is no terminal a line comes at least this often."""
TERMINAL_INTERVAL_S = 0.2
_HEARTBEAT_WIDTH = 48
_PARTS = 10**12


class Heartbeat:
    """Written while a run simulates, by a thread of its own: how much of the work is over.

    done: that share, from 0 to 1; asked at the start and then every interval.
    """

    def __init__(
        self, path: Path, done: Callable[[], float], interval_s: float = TERMINAL_INTERVAL_S
    ) -> None:
        self._done = done
        self._interval = interval_s
        self._last = -1.0
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
        share = min(max(self._done(), 0.0), 1.0)
        if share != self._last:  # a run that hangs gives no sign of life
            self._last = share
            # one write of a fixed width: a reader sees the old or the new one, never a mixture
            text = f"{round(share * _PARTS)} {_PARTS}".ljust(_HEARTBEAT_WIDTH)
            os.pwrite(self._file, text.encode(), 0)

    def _watch(self) -> None:
        while not self._over.wait(self._interval):
            with suppress(OSError):  # of a full disk the run itself will tell
                self.beat()


def read_heartbeat(path: Path) -> float:
    """How much of a run is over, 0 to 1; 0 when it has not begun."""
    try:
        now, end = path.read_text(encoding="ascii").split()
        return min(max(int(now) / int(end), 0.0), 1.0)
    except (OSError, ValueError, ZeroDivisionError):
        return 0.0


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


class Progress:
    """Shows how far a batch is.

    On a terminal one line is kept up to date. Elsewhere a line follows finished runs, at most
    one every three seconds, and one the last; while none ends, one comes every 30 s.
    """

    def __init__(
        self, total: int, stream: TextIO, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.total = total
        self.finished = 0
        self.failed = 0
        self._stream = stream
        self._clock = clock
        self._start = clock()
        self._terminal = stream.isatty()
        self._shown = float("-inf")
        self._line_width = 0

    @property
    def is_due(self) -> bool:
        """Whether `update` would show anything."""
        if self._terminal:
            return self._clock() - self._shown >= TERMINAL_INTERVAL_S
        return self._clock() - max(self._shown, self._start) >= SILENCE_S

    def finish_run(self, failed: bool, running: Sequence[float]) -> None:
        """Count a run that ended."""
        self.finished += 1
        self.failed += failed
        last = self.finished == self.total
        if self._terminal or last or self._clock() - self._shown >= PLAIN_INTERVAL_S:
            self._show(running)

    def update(self, running: Sequence[float]) -> None:
        """Bring the line of a terminal up to date, or print one; call it as often as you like."""
        if self.is_due:
            self._show(running)

    def _show(self, running: Sequence[float]) -> None:
        self._shown = self._clock()
        if self._terminal:
            columns = shutil.get_terminal_size().columns
            self._overwrite(self.line(running)[: columns - 1])
        else:
            self._print(self.line(running))

    def message(self, text: str) -> None:
        """Print lines above the progress."""
        if self._terminal:
            self._overwrite("")
            self._stream.write("\r")
            self._line_width = 0
        self._print(text)

    def close(self) -> None:
        """Leave the line on the terminal and go to the next."""
        if self._terminal and self._line_width:
            self._print("")
            self._line_width = 0

    def line(self, running: Sequence[float]) -> str:
        """What is shown: runs done, failed, how much of the running ones is over, time left."""
        parts = [f"{self.finished}/{self.total} runs"]
        if self.failed:
            parts.append(f"{self.failed} failed")
        elapsed = self._clock() - self._start
        if self.finished == self.total:
            return ", ".join([*parts, f"took {duration(elapsed)}"])
        if running:
            shown = " ".join(f"{fraction:.0%}" for fraction in running[:8])
            parts.append(f"running {shown}" + (" ..." if len(running) > 8 else ""))
        left = remaining_s(elapsed, self.total, self.finished, running)
        if left < float("inf"):
            parts.append(f"{duration(left)} left")
        return ", ".join(parts)

    def _overwrite(self, text: str) -> None:
        self._stream.write("\r" + text.ljust(self._line_width))
        self._stream.flush()
        self._line_width = len(text)

    def _print(self, text: str) -> None:
        self._stream.write(text + "\n")
        self._stream.flush()
