"""What the flows of a job's critical chain lost, from the tables of a run."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyorch.metrics.base import RunTables
from pyorch.metrics.chain import (
    Crossing,
    Drawn,
    Hold,
    Losses,
    Step,
    by_place,
    chain_of,
    losses_of,
)
from pyorch.metrics.crossings import by_message, by_queue_pair
from pyorch.network.topology import HOST, Topology

NOTHING = Losses({}, {}, 0.0)
_LAST: list[tuple[RunTables, str, bool, Chain]] = []
"""The last result: several metrics need the same one."""


@dataclass(frozen=True)
class Lost:
    """A flow of a chain. host: node that sent it; collective: its name, or "" of other traffic.

    late: time that the computation before it took longer, or began later; computed: all of that
    computation; took: the flow itself, with what it lost [ps].
    """

    host: int
    collective: str
    late: int
    computed: int
    took: int
    losses: Losses


@dataclass(frozen=True)
class Chain:
    """The critical chain of an entry, to its last arrival or the end of the run.

    time: from the `start` of the entry to there [ps]. computed: how long it computes behind that.
    unfinished: a flow of the entry did not end;
    the chain then leads to one that was under way at the end of the run.
    """

    steps: tuple[Lost, ...]
    time: int = 0
    unfinished: bool = False
    computed: int = 0


def lost_of(run: RunTables, label: str, network: bool) -> Chain | None:
    """Return what the chain of an entry lost; None if there is no such entry.

    network: include losses on the network, which need the tables.
    """
    for known, of, with_network, chain in _LAST:
        if known is run and of == label and with_network == network:
            return chain
    found = _lost_of(run, label, network)
    if found is not None:
        _LAST[:] = [(run, label, network, found), *_LAST[:3]]
    return found


def _lost_of(run: RunTables, label: str, network: bool) -> Chain | None:
    found = run.entry(label)
    if found is None:
        return None
    number, rows, table = found
    entry = run.setting.traffic[number]
    columns = ("src", "start_ps", "finish_ps", "ideal_ps")
    src, starts, ends, ideal = (np.asarray(table[name])[rows].astype(np.int64) for name in columns)
    missing = ends < 0
    if not (starts >= 0).any():
        return Chain((), unfinished=True)
    last = int(np.argmax(ends))
    if missing.any():
        sizes, here = (
            np.asarray(table[name])[rows].astype(np.float64)
            for name in ("size_bytes", "delivered_bytes")
        )
        # of what has arrived until the end of the run; the rest cannot be lost yet
        alone = np.where(missing, ideal * here / np.maximum(sizes, 1), ideal).astype(np.int64)
        left = np.where(missing & (starts >= 0), ideal - alone, -1)
        last = int(np.argmax(left)) if left.max() >= 0 else last
        ends, ideal = np.where(missing, run.end_ps, ends), alone
    done = [] if missing.any() else entry.computations(run.network, run.seed, number, ends)
    drawn = Drawn(run.seed, number, run.setting.run.duration)
    steps = chain_of(entry, run.network, drawn, starts, ends, last)
    tables = None
    if network:
        if run.find_table("pause_tree") is None or run.find_table("flow_link") is None:
            return None
        tables = _Tables(run)
    names = [""] * len(rows)
    if (parts := entry.parts()) is not None:
        known = [*parts.names, ""]  # the last for those of none, -1
        names = [known[phase] for phase in parts.phase.tolist()]
    return Chain(
        tuple(
            Lost(
                int(src[step.flow]),
                names[step.flow],
                step.late,
                step.computed,
                int(ends[step.flow] - starts[step.flow]),
                NOTHING
                if tables is None
                else tables.losses(step, int(rows[step.flow]), (starts, ends, ideal)),
            )
            for step in steps
        ),
        int(ends[last]) - entry.start,
        bool(missing.any()),
        max([0, *(end - int(ends[last]) for *_, end in done)]),
    )


class _Tables:
    """The tables `flow_link` and `pause_tree`, by egress."""

    def __init__(self, run: RunTables) -> None:
        self.network = run.network
        self.columns, rows = by_message(run)
        self.order = np.argsort(self.columns["flow"], kind="stable")
        self.sorted = self.columns["flow"][self.order]
        times = by_queue_pair(self.columns, rows)
        self.others = {
            place: (np.sort(part[:, 0]), np.sort(part[:, 1]))
            for place, part in by_place(times, ("first_ps", "last_ps")).items()
        }
        held: Any = run.find_table("pause_tree")
        names = ("start_ps", "end_ps", "depth", "root_node", "root_peer", "class")
        self.holds = by_place(held, names)
        rates = self.network.rates.tolist()
        self.rates = {port: rates[link] for port, link in self.network.links.items()}
        self.hops: dict[int, dict[int, int]] = {}

    def losses(self, step: Step, flow: int, times: tuple[Any, Any, Any]) -> Losses:
        """Return what a flow of a chain lost. times: starts, ends, ideal times of the entry."""
        begin, end, ideal = (int(column[step.flow]) for column in times)
        low, high = np.searchsorted(self.sorted, [flow, flow + 1])
        rows = self.order[low:high]
        if not len(rows):  # it used a scale-up domain, or lost nothing that can be attributed
            return Losses({}, {}, float(end - begin - ideal))
        crossings = self._crossings(rows)
        number = int(self.columns["class"][rows[0]])
        holds = {
            (one.node, one.peer): [
                Hold(since, until if until >= 0 else end, depth, (node, peer))
                for since, until, depth, node, peer, of in self.holds.get(
                    (one.node, one.peer), np.zeros((0, 6), dtype=np.int64)
                ).tolist()
                if of == number
            ]
            for one in crossings
        }
        return losses_of(
            max(0, end - begin - ideal), (begin, end), crossings, holds, self.others, self.rates
        )

    def _crossings(self, rows: Any) -> list[Crossing]:
        parts = [self.columns[name][rows].tolist() for name in ("node", "peer", "first_ps")]
        last = self.columns["last_ps"][rows].tolist()
        nodes = sorted(zip(parts[2], parts[0], strict=True))
        # the host that sends; of later messages all egresses count from their start
        first = next((node for _, node in nodes if self.network.kinds[node] == HOST), nodes[0][1])
        hops = self._hops(first)
        return [
            Crossing(node, peer, hops[node], begin, end)
            for node, peer, begin, end in zip(*parts, last, strict=True)
        ]

    def _hops(self, host: int) -> dict[int, int]:
        """Return each node's distance from a host [links]."""
        if host not in self.hops:
            self.hops[host] = _distances(self.network, host)
        return self.hops[host]


def _distances(network: Topology, start: int) -> dict[int, int]:
    near: dict[int, list[int]] = {}
    for a, b in zip(network.a.tolist(), network.b.tolist(), strict=True):
        near.setdefault(a, []).append(b)
        near.setdefault(b, []).append(a)
    found, todo = {start: 0}, deque([start])
    while todo:
        node = todo.popleft()
        for other in near[node]:
            if other not in found:
                found[other] = found[node] + 1
                todo.append(other)
    return found
