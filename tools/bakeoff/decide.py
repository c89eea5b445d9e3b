"""The table to decide from: what each scheme reached, and what it needs."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pydantic import Field

from pyorch.base.fields import Table
from pyorch.base.paths import Paths
from pyorch.report.statistics import Estimate
from tools.bakeoff.claims import Tried, share_text
from tools.bakeoff.compare import Compared, Cost, few
from tools.bakeoff.parts import load_part

FILE = "experiments/bakeoff/parts/facts.toml"
TAILS = ("p99, Hadoop", "p99, real ports")
VICTIMS = ("Victim of a trunk", "Victim at a sender")
HEADS = (
    "scheme",
    "p99: ideal, real ports",
    "deadlocks",
    "victims [Gb/s]",
    "buffer",
    "queues",
    "state",
    "NIC",
    "silicon",
)


class Fact(Table):
    """What a scheme needs: queues of a class at a port, state, the NIC's part, and who sells it."""

    name: str
    queues: str
    state: str
    nic: str
    silicon: str


class Facts(Table):
    """The file."""

    scheme: list[Fact] = Field(min_length=1)


def load_facts(paths: Paths) -> list[Fact]:
    """Read the file. Raises UserError with every problem in it."""
    return load_part(Facts, FILE, paths).scheme


def lines_of(
    facts: Sequence[Fact], rows: Sequence[Compared], base: Sequence[Cost], tried: Sequence[Tried]
) -> list[list[str]]:
    """Return the cells of every scheme; what no run has measured is "-"."""
    by_label = {one.row.label: one for one in rows}
    buffers = {one.scheme: one.buffer for one in base}
    found = []
    for fact in facts:
        tails = [_tail(by_label, label, fact.name) for label in TAILS]
        least = [_least(by_label, label, fact.name) for label in VICTIMS]
        shares = [one.ratio for one in tried if one.claim.zero and one.claim.scheme == fact.name]
        ends = [min(shares, key=_mean), max(shares, key=_mean)] if shares else []
        found.append(
            [
                fact.name,
                ", ".join(tails),
                " to ".join(dict.fromkeys(share_text(end) for end in ends)) or "-",
                ", ".join(_text(value / 1e9) for value in least),
                f"{100 * buffers[fact.name]:.0f} %" if fact.name in buffers else "-",
                *(fact.queues, fact.state, fact.nic, fact.silicon),
            ]
        )
    return found


def _text(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.1f}"


def _tail(rows: dict[str, Compared], label: str, scheme: str) -> str:
    found = next((a.mean for a in rows[label].answers if a.scheme == scheme and a.mean.n), None)
    return f"{found.mean:.1f}{few(found)}" if found else "-"


def _mean(found: Estimate) -> float:
    return found.mean


def _least(rows: dict[str, Compared], label: str, scheme: str) -> float:
    values = [v for a in rows[label].answers if a.scheme == scheme for v in a.by_seed.values()]
    return min(values, default=math.nan)


def markdown(lines: Sequence[Sequence[str]]) -> str:
    """Return the table."""
    whole = [list(HEADS), ["---"] * len(HEADS), *lines]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in whole)
