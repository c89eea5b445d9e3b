"""Deadlocks and runs without progress, in sentences: when, where, and who began it.

The numbers are those of a run's summary. Names are in its notes, lines of the deadlock oracle that
every run has; without one the sentences are shorter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyorch.base.lazy import pd
from pyorch.base.stalls import is_stalled
from pyorch.report.data import ReportData
from pyorch.report.quantities import show
from pyorch.report.select import values_of

if TYPE_CHECKING:
    from pandas import DataFrame, Series


Numbers = Mapping[str, Any]
"""The numbers of a run's summary."""
STILL = "No deadlock, but no progress"
SHOWN = 8
"""Nodes of a cycle that a sentence names."""
_DIGITS = 6
_MOST_VARIANTS = 4
_NOTE = re.compile(
    r"(?P<kind>deadlock|blocked by a host), formed at \d+ ps in class \d"
    r"(?: and dissolved at (?P<dissolved>\d+) ps)?: (?P<queues>[^;]*)"
)
_FIRST = re.compile(
    r"; first pause: (?P<node>\S+):(?P<peer>\S+) at (?P<time>\d+) ps, (?P<why>[^,]*), (?P<more>\d+)"
)
_PICOSECONDS = re.compile(r"\b(\d{4,}) ps\b")


@dataclass(frozen=True)
class Pause:
    """The first pause of the chain that closed it: `node` paused `peer` at a time [ps].

    more: number of pauses between it and the last of the chain, and that one.
    """

    node: str
    peer: str
    time: int
    is_of_host: bool
    more: int


@dataclass(frozen=True)
class Episode:
    """A deadlock, or queues that wait for a host that pauses forever.

    circle: the nodes of the cycle in the frames' direction, the first one also at the end; empty
    if a host is waited for. dissolved: when it ended [ps], None: never.
    """

    circle: tuple[str, ...]
    dissolved: int | None
    first: Pause | None


def episodes(notes: Iterable[str]) -> list[Episode]:
    """The episodes that the notes of a run tell of, in their order."""
    found = []
    for note in notes:
        if read := _NOTE.match(note):
            ports = read["queues"].split(" waits for ") if read["kind"] == "deadlock" else []
            first = _FIRST.search(note)
            found.append(
                Episode(
                    tuple(port.partition(":")[0] for port in ports),
                    int(read["dissolved"]) if read["dissolved"] else None,
                    Pause(
                        first["node"],
                        first["peer"],
                        int(first["time"]),
                        first["why"] == "a host",
                        int(first["more"]),
                    )
                    if first
                    else None,
                )
            )
    return found


def deadlock(numbers: Numbers, notes: Iterable[str]) -> str:
    """The first deadlock of a run: "at 218.3 µs among a → b → c → a, closed by ..."; "" if none."""
    formed = numbers.get("deadlock_formed_ps")
    if not numbers.get("deadlocked") or formed is None:
        return ""
    told = next((one for one in episodes(notes) if one.circle), None)
    queues = int(numbers.get("deadlock_cycle_queues", 0))
    where = f"{queues} queues"
    if told and len(told.circle) <= SHOWN + 1:
        where = " → ".join(told.circle)
    elif told:
        where = f"{queues} queues ({' → '.join(told.circle[:SHOWN])} → …)"
    text = f"at {_time(formed)} among {where}"
    if told and told.dissolved is not None:
        text += f", until {_time(told.dissolved)}"
    if told and told.first:
        who = f"the host {told.first.node}" if told.first.is_of_host else told.first.node
        how = "a chain of pauses that began with " if told.first.more else ""
        text += (
            f", closed by {how}{who}, which paused {told.first.peer} at {_time(told.first.time)}"
        )
    return text


def stall(numbers: Numbers, notes: Iterable[str]) -> str:
    """Since when a run makes no progress and which host is waited for; "" if it makes some."""
    parts = []
    last, end = int(numbers.get("last_delivery_ps", -1)), int(numbers.get("end_ps", 0))
    waiting = int(numbers.get("flows_unfinished", 0))
    if waiting and is_stalled(max(last, 0), end):
        since = f"nothing arrived after {_time(last)} of {_time(end)}"
        since = since if last >= 0 else f"nothing arrived until the end at {_time(end)}"
        parts.append(f"{since}, and {waiting:,} message{' waits' if waiting == 1 else 's wait'}")
    if numbers.get("blocked_by_host"):
        queues = int(numbers.get("blocked_by_host_queues", 0))
        first = next((one.first for one in episodes(notes) if not one.circle), None)
        who = "a host that pauses forever"
        if first and first.is_of_host:
            since = f"forever from {_time(first.time)} on"
            who = f"the host {first.node}, which pauses {first.peer} {since}"
        parts.append(f"{queues} queue{' waits' if queues == 1 else 's wait'} for {who}")
    return "; ".join(parts)


def headlines(data: ReportData) -> list[str]:
    """What a report begins with if some of its runs deadlocked, or made no progress.

    Only the first run of each kind is told of in full. A run that is deadlocked at its end makes no
    progress either, and is told of once.
    """
    runs: Any = data.runs
    still = [is_still(data.summary(key).get("summary", {})) for key in runs.get("hash", ())]
    found = []
    for head, chosen, tell in (
        ("Deadlock", _above_0(runs, "deadlocked"), deadlock),
        (STILL, pd.Series(still, index=runs.index, dtype=bool), stall),
    ):
        some = runs[chosen]
        if len(some):
            content = data.summary(some["hash"].iloc[0])
            text = tell(content.get("summary", {}), content.get("notes", ()))
            found.append(_headline(head, some, runs, text))
    return found


def _above_0(runs: DataFrame, number: str) -> Series[bool]:
    """In which runs a number of the summary is above 0."""
    if number in runs:
        return pd.to_numeric(runs[number]) > 0
    return pd.Series(data=False, index=runs.index)  # no run is finished, or none has the number


def is_still(numbers: Numbers) -> bool:
    """Whether a run makes no progress although none of its queues is deadlocked at its end."""
    if numbers.get("deadlocked_at_end"):
        return False
    last, end = int(numbers.get("last_delivery_ps", -1)), int(numbers.get("end_ps", 0))
    quiet = bool(numbers.get("flows_unfinished")) and is_stalled(max(last, 0), end)
    return quiet or bool(numbers.get("blocked_by_host"))


def _headline(head: str, some: DataFrame, runs: DataFrame, text: str) -> str:
    link = " " if head == "Deadlock" else ": "
    if len(runs) == 1:
        return f"{head}{link}{text}."
    variants = [str(who) for who in values_of(some, "variant")] if "variant" in some else []
    more = len(variants) - _MOST_VARIANTS
    names = [*variants[:_MOST_VARIANTS], *([f"{more} more"] if more > 0 else [])]
    whose = f" ({', '.join(names)})" if any(variants) else ""
    return f"{head} in {len(some)} of {len(runs)} runs{whose}. In the first of these{link}{text}."


def readable(note: str) -> str:
    """A note with its times in readable units: "218305432 ps" as "218.305 µs"."""
    return _PICOSECONDS.sub(lambda found: _time(int(found[1])), note)


def plain(text: str) -> str:
    """A sentence for a console, in ASCII."""
    return text.replace("→", "->").replace("µ", "u").replace("…", "...")


def _time(picoseconds: float) -> str:
    return show(picoseconds, "ps", digits=_DIGITS)
