"""The result of a measurement as JSON, and its comparison with the committed one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from pyorch.base.files import write_atomically

#: How many more instructions a hop may take than in the committed measurement, and by how much the
#: share added by tables may grow.
TOLERANCE = 0.03


@dataclass(frozen=True)
class Line:
    """One workload: medians of its runs, and the extremes of its speed.

    Speeds are data packet-hops per CPU-second of the simulation alone; `share` is the speed over
    events per CPU-second of ns-3's bare loop in the same measurement. `instructions` count one
    data packet-hop with its ACK's hop; None where they were not counted. The last three are of a
    whole run by `invoke experiment`: None where there was none.
    """

    name: str
    hops_per_s: float
    slowest: float
    fastest: float
    share: float
    events_per_hop: float
    instructions: float | None
    peak_rss_mib: float
    experiment_hops_per_s: float | None = None
    startup_s: float | None = None
    around_s: float | None = None


@dataclass(frozen=True)
class Record:
    """A whole measurement.

    traces: the share of instructions that tables recorded on every change add; None where
    instructions were not counted.
    """

    compiler: str
    ns3: str
    bare_events_per_s: float
    traces: float | None
    lines: Sequence[Line]


def save(record: Record, file: Path) -> None:
    """Write it. Raises OSError."""
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, json.dumps(asdict(record), indent=1) + "\n")


def load(file: Path) -> Record | None:
    """Read one; None if there is none or it has another form."""
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        return Record(**{**data, "lines": tuple(Line(**line) for line in data["lines"])})
    except (OSError, ValueError, KeyError, TypeError):
        return None


def regressions(now: Record, before: Record) -> list[str]:
    """List workloads and tables that take more instructions than before, beyond the tolerance."""
    known: Mapping[str, float | None] = {line.name: line.instructions for line in before.lines}
    found = []
    for line in now.lines:
        was = known.get(line.name)
        if line.instructions and was and line.instructions > was * (1 + TOLERANCE):
            more = line.instructions / was - 1
            found.append(
                f"{line.name}: {line.instructions:.0f} instructions per hop, {more:.1%} more than"
                f" the committed {was:.0f}"
            )
    added, was = now.traces, before.traces
    if added is not None and was is not None and added > was + TOLERANCE:
        found.append(
            f"queues and pauses of every port recorded: {added:+.1%} instructions, committed"
            f" are {was:+.1%}"
        )
    return found


def comparable(now: Record, before: Record) -> str | None:
    """Return why two measurements cannot be compared by instructions; None if they can."""
    for name, mine, theirs in (
        ("compiler", now.compiler, before.compiler),
        ("ns-3", now.ns3, before.ns3),
    ):
        if mine != theirs:
            return f"the committed measurement is of another {name}: {theirs}, here {mine}"
    return None
