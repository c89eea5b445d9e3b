"""The view of a batch on a terminal: what it says, that it fits, and what it leaves behind."""

from __future__ import annotations

import io
import os
import pty
import re
from contextlib import suppress

import pytest
from rich.cells import cell_len
from rich.text import Text

from pyorch.cli.base import in_short
from pyorch.engine.progress import Progress
from pyorch.engine.terminal import Running, State, Totals, is_drawable, render

ESCAPES = re.compile(r"\x1b\[([?\d;]*)([A-Za-z])")
SUMMARY = {"end_ps": 10**9, "delivered_bytes": 125_000, "pauses_sent": 1500, "deadlocked": 1}


def state(runs: int = 12, name: str = "gfc/fat-tree") -> State:
    """Two of 40 runs have ended, one of them in a deadlock, and others are under way."""
    totals = Totals()
    totals.add(SUMMARY)
    totals.add(SUMMARY | {"deadlocked": 0})
    running = [
        Running(f"variant=GFC port.queue_service=Fifo seed={n}", n / 20, n * 10**8)
        for n in range(runs)
    ]
    return State(name, 40, 2, 0, 10.0, "1 min 20 s left", running, totals)


def plain(view: str) -> list[str]:
    """Its lines without colours."""
    return Text.from_ansi(view).plain.split("\n")


@pytest.mark.parametrize("width", [40, 79, 120])
@pytest.mark.parametrize("height", [8, 24])
def test_a_view_fits(width: int, height: int) -> None:
    """No line is wider than the terminal, and there are fewer than it has."""
    lines = plain(render(state(name="a-very-long-name/" * 4), width, height))
    assert max(map(cell_len, lines)) <= width
    assert len(lines) < height


def test_a_view_says_how_far_it_is() -> None:
    """Runs done, time left, the clock of each run, and what the finished ones did."""
    view = plain(render(state(), 100, 24))
    assert re.search(r"gfc/fat-tree .*2 of 40 runs +1 min 20 s left", view[0])
    assert re.search(r"^  GFC queue_service=Fifo seed=3 .* 15% +300 us$", view[4].rstrip())
    assert "and 4 more" in view[9]
    # 2 ms of those that ended and 6.6 ms of those that did not, in 10 s; 1 Gb/s
    expected = "1 of 2 deadlocked · 3,000 pauses · 1 Gb/s delivered · 860 us simulated/s"
    assert view[10].strip() == expected


def test_a_run_in_set_up_or_at_a_standstill_says_so() -> None:
    """In place of its clock: for how long in wall time, and where it stands."""
    both = [
        Running("variant=A", 0.0, is_set_up=False, setup=90.0),
        Running("variant=B", 0.5, 12_300_000, setup=1.0, still=40.0),
    ]
    lines = plain(render(State("x", 2, 0, 0, 1.0, "", both, Totals()), 79))
    assert lines[1].rstrip().endswith(" setting up for 1 min 30 s")
    assert lines[2].rstrip().endswith(" no progress for 40 s at 12.3 us")


@pytest.mark.parametrize("width", [40, 79])
def test_a_run_without_progress_says_so(width: int) -> None:
    """In place of its clock, which would not tell it from one that gets on."""
    both = [Running("variant=A", 0.5, 10**9), Running("variant=B", 0.5, 10**9, 9 * 10**8)]
    lines = plain(render(State("x", 2, 0, 0, 1.0, "", both, Totals()), width))
    assert lines[1].rstrip().endswith(" 1 ms")
    assert lines[2].rstrip().endswith(" stalled for 900 us"[: width // 2])
    assert max(map(cell_len, lines)) <= width


def test_the_end_of_a_long_title_stays() -> None:
    """It has the seed; the middle is cut, and the bar keeps its least width."""
    title = f"variant=GFC scenario={'x' * 90} seed="
    many = State("x", 4, 0, 0, 1.0, "", [Running(title + str(n), 0.5) for n in (1, 2)], Totals())
    first, second = plain(render(many, 79))[1:3]
    assert re.match(r"  GFC scenario=x+…x+ seed=1  \S{10} ", first)
    assert "seed=2 " in second


def seen(variables: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> str:
    """What a batch of two runs writes to a pseudo-terminal."""
    for name, value in ({"NO_COLOR": "", "TERM": "xterm"} | variables).items():
        monkeypatch.setenv(name, value)
    master, slave = pty.openpty()
    with os.fdopen(slave, "w") as stream:
        now = [0.0]
        progress = Progress(2, stream, clock=lambda: now[0], name="x")
        now[0] = 5.0
        progress.update([Running("a", 0.5, 10**6)])
        progress.message("FAILED a")
        progress.finish_run(True, [Running("b", 0.5, 10**6)])
        now[0] = 10.0
        progress.finish_run(False, [], SUMMARY)
        progress.close()
        os.set_blocking(master, False)
        parts = []
        with suppress(BlockingIOError):
            while part := os.read(master, 65536):
                parts.append(part)
    os.close(master)
    return b"".join(parts).decode()


def test_a_terminal_is_left_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only colours, upwards, and erase below: no mode is set that a killed process would leave."""
    text = seen({}, monkeypatch)
    kinds = {(kind, "?" in numbers) for numbers, kind in ESCAPES.findall(text)}
    assert kinds == {("m", False), ("A", False), ("J", False)}
    last = text.rsplit("\x1b[J", 1)[1].replace("\r\n", "\n")
    assert "2 of 2 runs, 1 failed" in Text.from_ansi(last).plain
    assert last.endswith("\n")
    before = text[: text.index("FAILED a")]
    assert before.endswith("\x1b[J")


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_who_wants_lines_gets_lines(
    variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a log: without any escape sequence, and none that is drawn over."""
    text = seen(variables, monkeypatch).replace("\r\n", "\n")
    assert "\x1b" not in text
    assert "\r" not in text
    assert text.endswith("2/2 runs, 1 failed, 1 deadlocked, took 10 s\n")
    assert not is_drawable(io.StringIO())


def test_many_verdicts_fit_on_a_screen() -> None:
    """Their counts, then those that do not agree; a few are all shown."""
    lines = [f"{'differs' if n % 10 == 0 else 'agrees':<11} claim {n}" for n in range(40)]
    assert in_short(lines[:12]) == lines[:12]
    assert in_short(lines) == ["40 expectations: 36 agree, 4 do not or are open", *lines[::10]]
    assert in_short(lines, 3)[-2:] == [lines[20], "... and 1 more in the report"]
