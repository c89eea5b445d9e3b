"""What a terminal shows while a batch runs: a few lines that are kept up to date.

Neither the cursor is hidden nor a mode of the terminal changed: it is as it was, however the
process ends.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from pyorch.base.units import duration, rounded_time, short_key

_MOST_RUNS = 8
_GAP, _LEAST_BAR = 2, 10
"""Between columns, and the width of the narrowest bar [cells]."""
_PS = 10**12


@dataclass(frozen=True)
class Running:
    """A run that is under way: its title, how much of it is over (0 to 1), its clock [ps].

    stalled: for how long nothing of its messages has arrived [ps]; 0 as long as that is no stall.
    is_set_up: whether it simulates; setup: wall time of its set-up, until now or to its end [s].
    still: wall time since its clock last moved [s]; 0 as long as that is no standstill.
    """

    title: str
    share: float
    now: int = 0
    stalled: int = 0
    is_set_up: bool = True
    setup: float = 0.0
    still: float = 0.0


def stall(run: Running) -> str:
    """In words for how long a run has made no progress; empty if it makes some."""
    return f"stalled for {rounded_time(run.stalled)}" if run.stalled else ""


def _clock(run: Running) -> str:
    """What stands at the end of a run's row: its clock, or what is the matter with it."""
    if not run.is_set_up:
        return f"setting up for {duration(run.setup)}"
    if run.still:
        return f"no progress for {duration(run.still)} at {rounded_time(run.now)}"
    return stall(run) or rounded_time(run.now)


@dataclass
class Totals:
    """What the runs that have ended did. simulated: ps; delivered: bytes."""

    simulated: int = 0
    delivered: int = 0
    pauses: int = 0
    deadlocked: int = 0

    def add(self, summary: Mapping[str, Any]) -> None:
        """Add the numbers of a run's summary."""
        self.simulated += int(summary.get("end_ps", 0))
        self.delivered += int(summary.get("delivered_bytes", 0))
        self.pauses += int(summary.get("pauses_sent", 0))
        self.deadlocked += bool(summary.get("deadlocked", 0))


@dataclass(frozen=True)
class State:
    """How far a batch is. elapsed: seconds; left: in words, or empty."""

    name: str
    total: int
    finished: int
    failed: int
    elapsed: float
    left: str
    running: Sequence[Running]
    totals: Totals


def is_drawable(stream: TextIO) -> bool:
    """Whether lines of a stream can be drawn over: a real terminal, not asked to be plain."""
    try:
        return os.isatty(stream.fileno()) and is_wanted()
    except (OSError, ValueError):  # a notebook's cell, a test's text
        return False


def is_wanted() -> bool:
    """Whether the environment lets terminals be drawn on: NO_COLOR and TERM=dumb say no."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM", "") not in ("", "dumb")


class Screen:
    """Lines at the end of a terminal that are drawn again and again."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lines = 0

    def draw(self, text: str) -> None:
        """Show lines in place of the last ones."""
        self._stream.write(self._erasing() + text)
        self._stream.flush()
        self._lines = text.count("\n")

    def erase(self) -> None:
        """Remove them, so that something else can be said."""
        self._stream.write(self._erasing())
        self._lines = 0

    def _erasing(self) -> str:
        return f"\x1b[{self._lines}A\r\x1b[J" if self._lines else "\r"


def render(state: State, width: int, height: int = 24) -> str:
    """Return the view of a batch as lines with escape sequences, none of them wider than width."""
    import io

    from rich.cells import cell_len
    from rich.console import Console, Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    looks: dict[str, Any] = {"style": "bright_black", "complete_style": "cyan"}
    looks["finished_style"] = "green"

    def grid(rows: Sequence[tuple[Text, ProgressBar, Text, Text]]) -> Table:
        """Rows of a text, a bar, and two columns at the right."""
        right = [max((cell_len(str(row[n])) for row in rows), default=0) for n in (2, 3)]
        room = max(width - sum(right) - 3 * _GAP - _LEAST_BAR, _LEAST_BAR)
        table = Table.grid(padding=(0, _GAP), expand=True)
        table.add_column(no_wrap=True)
        table.add_column(ratio=1, no_wrap=True)
        for _ in right:
            table.add_column(no_wrap=True, justify="right")
        for text, bar, middle, last in rows:
            table.add_row(Text(_cut(text.plain, room), text.style), bar, middle, last)
        return table

    work = state.finished + sum(run.share for run in state.running)
    count = Text(f"{state.finished:,} of {state.total:,} runs")
    if state.failed:
        count.append(f", {state.failed:,} failed", "bold red")
    bar = ProgressBar(total=state.total, completed=work, **looks)
    top = grid([(Text(state.name, "bold"), bar, count, Text(state.left))])
    shown = state.running[: max(1, min(_MOST_RUNS, height - 5))]
    rows = grid(
        [
            (
                Text("  " + _short(run.title)),
                ProgressBar(total=1, completed=run.share, **looks),
                Text(f"{run.share:4.0%}"),
                Text(_clock(run), "yellow" if run.stalled or run.still else ""),
            )
            for run in shown
        ]
    )
    if len(state.running) > len(shown):
        rows.add_row(Text(f"  and {len(state.running) - len(shown)} more", "dim"))
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, width=width, color_system="standard")
    console.print(Group(top, rows, _told(state, width)), highlight=False)
    return file.getvalue()


def _short(title: str) -> str:
    """A run's title without what all titles have: "PFC queue_service=Fifo seed=1"."""
    words = [word.rpartition("=") for word in title.split(" ")]
    keys = [key for key, _, _ in words]
    return " ".join(
        (f"{short_key(key, keys)}=" if key != "variant" else "") + value if equals else value
        for key, equals, value in words
    )


def _cut(text: str, cells: int) -> str:
    """A text without its middle where it is too long: the end tells most runs apart."""
    from rich.cells import cell_len, set_cell_size

    if cell_len(text) <= cells:
        return text
    end = text[-(cells // 3) :]
    return set_cell_size(text, cells - 1 - cell_len(end)) + "…" + end


def _told(state: State, width: int) -> Any:
    """What the runs that have ended did, and how fast time passes in all of them."""
    from rich.cells import cell_len
    from rich.text import Text

    totals = state.totals
    done = state.finished - state.failed
    simulated = totals.simulated + sum(run.now for run in state.running)
    parts = []
    if done:
        rate = 8e-9 * totals.delivered * _PS / totals.simulated if totals.simulated else 0.0
        colour = "bold red" if totals.deadlocked else "green"
        parts.append((f"{totals.deadlocked} of {done} deadlocked", colour))
        parts.append((f"{totals.pauses:,} pauses", ""))
        parts.append((f"{rate:.3g} Gb/s delivered", ""))
    if simulated and state.elapsed > 0:
        parts.append((f"{rounded_time(round(simulated / state.elapsed))} simulated/s", ""))
    text = Text("  ", overflow="ellipsis", no_wrap=True)
    for number, (part, look) in enumerate(parts):
        if number and text.cell_len + cell_len(part) + 3 > width:
            break
        text.append(" · " if number else "", "dim").append(part, look)
    return text
