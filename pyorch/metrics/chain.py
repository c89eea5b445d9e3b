"""The critical chain of an entry's flows: what waited for what, from the last arrival back.

A flow starts when the last of what it waits for is over, plus a delay; so the flow that arrives
last leads back, step by step, to one that waited for nothing. The lengths of these steps add up to
the time that the entry took until its last message arrived.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pyorch.network.topology import Topology
from pyorch.traffic.base import POINT, Block, TrafficTable, Waits, generator_of

Numbers = npt.NDArray[np.int64]
Egress = tuple[int, int]
"""A node and the peer to which a port of it leads."""


@dataclass(frozen=True)
class Step:
    """A flow of a chain, by its number in the entry.

    computed: time from what it waited for to its start; late: its excess over that without
    stragglers and jitter [ps].
    """

    flow: int
    computed: int
    late: int


@dataclass(frozen=True)
class Drawn:
    """The source of a flow's random draws: the run's seed, the entry's number, the duration."""

    seed: int
    number: int
    duration_ps: int


def chain_of(
    entry: TrafficTable,
    network: Topology,
    drawn: Drawn,
    starts: Numbers,
    ends: Numbers,
    last: int | None = None,
) -> list[Step]:
    """Return the critical chain of a canonical entry, the first flow first.

    starts, ends: shape (flows,), ps; all on the chain must have ended. last: the flow that it leads
    to, by default that which ended last.
    """
    actual, nominal = (
        one.generate(network, generator_of(drawn.seed, drawn.number), drawn.duration_ps)
        for one in (entry, entry.on_time())
    )
    walk = _Walk(actual, nominal, ends)
    steps: list[Step] = []
    flow: int | None = int(np.argmax(ends)) if last is None else last
    while flow is not None:
        step, flow = walk.before(flow, int(starts[flow]), entry.start)
        steps.append(step)
    return steps[::-1]


class _Walk:
    """Finds the flow that a flow waited for."""

    def __init__(self, actual: Block, nominal: Block, ends: Numbers) -> None:
        none = np.zeros(0, dtype=np.uint32)
        waits = actual.waits or Waits(none, none, none.astype(np.int64))
        usual = nominal.waits or waits
        self.ends = ends
        self.order = np.argsort(waits.flows, kind="stable")
        self.waiters = waits.flows[self.order]
        self.after = waits.after
        self.delays = waits.delays
        self.late = waits.delays - usual.delays
        own, on_time = (np.broadcast_to(one.starts, len(ends)) for one in (actual, nominal))
        self.own, self.own_late = own, own - on_time
        self.points: dict[int, int] = {}

    def before(self, flow: int, start: int, begin: int) -> tuple[Step, int | None]:
        """Return the step of a flow, and the flow that it waited for, if any."""
        computed = late = 0
        node = flow
        while True:
            # the wait that a flow or point waited for longest; None if it has none
            edges = self._edges(node).tolist()
            edge = max(edges, key=self._time) if edges else None
            if edge is None or (node == flow and self._time(edge) < self.own[flow]):
                own = int(self.own_late[flow]) if node == flow else 0
                return Step(flow, start - begin, late + own), None
            computed += int(self.delays[edge])
            late += int(self.late[edge])
            node = int(self.after[edge])
            if node < POINT:
                return Step(flow, computed, late), node

    def _edges(self, node: int) -> Numbers:
        ends = np.searchsorted(self.waiters, [node, node + 1])
        return np.asarray(self.order[ends[0] : ends[1]])

    def _time(self, edge: int) -> int:
        """Return when a wait was over [ps]."""
        after = int(self.after[edge])
        return int(self.delays[edge]) + (
            int(self.ends[after]) if after < POINT else self._of_point(after)
        )

    def _of_point(self, point: int) -> int:
        """Return when a point occurred; resolves those it waits for first, without recursion."""
        todo = [point]
        while todo:
            edges = self._edges(todo[-1]).tolist()
            missing = [
                int(self.after[edge])
                for edge in edges
                if self.after[edge] >= POINT and int(self.after[edge]) not in self.points
            ]
            if missing:
                todo += missing
                continue
            self.points[todo.pop()] = max(map(self._time_known, edges), default=0)
        return self.points[point]

    def _time_known(self, edge: int) -> int:
        after = int(self.after[edge])
        time = int(self.ends[after]) if after < POINT else self.points[after]
        return time + int(self.delays[edge])


# ---------------------------------------------------------------------------------------------
# The time that a flow of the chain lost


@dataclass(frozen=True)
class Crossing:
    """The frames of a flow at an egress. hop: number of egresses before it; begin, end: ps."""

    node: int
    peer: int
    hop: int
    begin: int
    end: int


@dataclass(frozen=True)
class Hold:
    """An interval in which an egress was held back [ps]. root: the egress where it began."""

    begin: int
    end: int
    depth: int
    root: Egress


@dataclass(frozen=True)
class Losses:
    """What a flow lost [ps]: to pauses, by their roots, and to collisions, by egresses.

    sharing: the rest, lost to other flows on the links at its ends, and to ACKs.
    """

    pauses: dict[Egress, float]
    collisions: dict[Egress, float]
    sharing: float


def losses_of(
    lost: int,
    span: tuple[int, int],
    crossings: Sequence[Crossing],
    holds: dict[Egress, list[Hold]],
    others: dict[Egress, tuple[Numbers, Numbers]],
    rates: dict[Egress, int],
) -> Losses:
    """Return how a flow's lost time `lost` [ps] divides into causes.

    span: when it began and ended. holds: those of its egresses. others: first and last times of all
    flows at each egress, each sorted. rates: those of its egresses [bit/s]. The formulas are in
    docs/reports.md, "Lost time".
    """
    begin, end = span
    places = [(one.node, one.peer) for one in crossings]
    times = {begin, end}
    for place in places:
        for hold in holds.get(place, ()):
            times |= {hold.begin, hold.end}
        for ends in others[place]:
            low, high = np.searchsorted(ends, [begin, end])
            times |= set(ends[low:high].tolist())
    cuts = sorted(time for time in times if begin <= time <= end)
    last = max(one.hop for one in crossings)
    pauses: dict[Egress, float] = {}
    collisions: dict[Egress, float] = {}
    sharing = 0.0
    for now, later in itertools.pairwise(cuts):
        held = [
            hold
            for place in places
            for hold in holds.get(place, ())
            if hold.begin <= now and later <= hold.end
        ]
        if held:
            root = min(held, key=lambda hold: (hold.depth, hold.begin, hold.root)).root
            pauses[root] = pauses.get(root, 0.0) + later - now
            continue
        busy = [one for one in crossings if one.begin <= now and later <= one.end]
        at_ends, between = _missed(busy, now, last, others, rates)
        sharing += at_ends * (later - now)
        for link, part in between.items():
            collisions[link] = collisions.get(link, 0.0) + part * (later - now)
    pauses = _cut(pauses, min(float(lost), sum(pauses.values())))
    rest = lost - sum(pauses.values())
    known = sum(collisions.values())
    collisions = _cut(collisions, rest * known / (known + sharing) if known else 0.0)
    return Losses(pauses, collisions, rest - sum(collisions.values()))


def _cut(parts: dict[Egress, float], whole: float) -> dict[Egress, float]:
    """Return the parts scaled to add up to a whole."""
    before = sum(parts.values())
    return {place: part * whole / before for place, part in parts.items()} if before else {}


def _missed(
    busy: Sequence[Crossing],
    now: int,
    last: int,
    others: dict[Egress, tuple[Numbers, Numbers]],
    rates: dict[Egress, int],
) -> tuple[float, dict[Egress, float]]:
    """Return the share of its rate that a flow lacks at its ends, and between switches by egress.

    last: the hop to the destination; the first is 0.
    """
    shares: dict[int, float] = {}
    whole: dict[int, float] = {}
    for one in busy:
        first, done = others[one.node, one.peer]
        number = np.searchsorted(first, now, "right") - np.searchsorted(done, now, "right")
        rate = rates[one.node, one.peer]
        shares[one.hop] = shares.get(one.hop, 0.0) + rate / max(int(number), 1)
        whole[one.hop] = whole.get(one.hop, 0.0) + rate
    ends = [hop for hop in (0, last) if hop in shares]
    if not ends:
        return 0.0, {}
    # even alone, no flow is faster than the slowest link of its path
    line = min(whole.values())
    most = min(line, *(shares[hop] for hop in ends))
    between = [hop for hop in shares if hop not in (0, last)]
    slowest = min(between, key=lambda hop: (shares[hop], hop), default=0)
    if not between or shares[slowest] >= most:
        return 1 - most / line, {}
    there = [(one.node, one.peer) for one in busy if one.hop == slowest]
    part = (most - shares[slowest]) / line / len(there)
    return 1 - most / line, dict.fromkeys(there, part)


def by_place(table: Any, columns: Sequence[str]) -> dict[Egress, npt.NDArray[Any]]:
    """Return the rows of a table by node and peer, as arrays of the shape (rows, columns)."""
    ends = np.stack([np.asarray(table[name]).astype(np.int64) for name in ("node", "peer")])
    data = np.stack([np.asarray(table[name]).astype(np.int64) for name in columns], axis=1)
    order = np.lexsort(ends[::-1])
    ends, data = ends[:, order], data[order]
    cuts = np.flatnonzero((np.diff(ends) != 0).any(axis=0)) + 1
    firsts = [0, *cuts.tolist()] if len(data) else []
    parts = np.split(data, cuts) if len(data) else []
    return {
        (int(ends[0, first]), int(ends[1, first])): part
        for first, part in zip(firsts, parts, strict=True)
    }
