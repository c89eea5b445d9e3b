"""Flows divided over lossless classes, so that those of no class have a cycle.

Layers of routes, as in Skeie, Lysne and Theiss, LASH, IPDPS 2002 (not read): each pair of switches
gets the first class in which its routes close no cycle.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from pyorch.addons.lab.cuts import Turn
from pyorch.addons.lab.drive import Routes
from pyorch.base.errors import one_of
from pyorch.base.lazy import nx
from pyorch.network.cycles import Egress
from pyorch.network.topology import Topology
from pyorch.traffic.base import Flows

N_CLASSES = 8
MOST_PAIRS = 2_000
"""Maximum number of pairs, of a switch and a group of hosts, that are divided."""
SHOWN = 4
Pair = tuple[int, int]
"""The first and the last switch of flows."""


@dataclass(frozen=True)
class Split:
    """Pairs of switches by class: those of the class `first`, of the next one, ...

    mask: of the lossless classes then. mixed: an entry of traffic has flows of several classes.
    """

    network: Topology
    parts: tuple[tuple[Pair, ...], ...]
    first: int
    mask: int
    mixed: bool = False

    @property
    def words(self) -> str:
        """Which flows are in which class, for people."""
        names = self.network.names
        moved = [
            f"{one_of([f'{names[a]} to {names[b]}' for a, b in part], SHOWN)} in class {cls}"
            for cls, part in enumerate(self.parts[1:], self.first + 1)
        ]
        return f"{len(self.parts)} lossless classes, flows from {'; '.join(moved)}"

    @property
    def how(self) -> str:
        """How to apply it; by strict priority the last class would starve the first."""
        served = 'port.class_service = "dwrr"'
        apart = " (write these flows as entries of their own first)" if self.mixed else ""
        return f"class of their [[traffic]]{apart}, buffer.lossless_classes = {self.mask}, {served}"


def split_of(routes: Routes, flows: Flows, first: int, mask: int) -> Split | None:
    """Divide flows over as few classes as a greedy search finds; None if there are not so many.

    first: the class of all flows. mask: of the lossless classes now.
    """
    ways = _ways(routes, flows)
    if len(ways) > MOST_PAIRS:
        return None
    graphs: list[nx.DiGraph[Egress]] = []
    parts: list[dict[Pair, None]] = []
    for pair, turns in ways:
        joined = (nx.compose(graph, nx.DiGraph(list(turns))) for graph in graphs)
        place = next((n for n, one in enumerate(joined) if nx.is_directed_acyclic_graph(one)), -1)
        if place < 0:
            graphs.append(nx.DiGraph())
            parts.append({})
        graphs[place].add_edges_from(turns)
        parts[place][pair] = None
    mask |= sum(1 << cls for cls in range(first, first + len(parts)))
    place_of = {pair: place for place, part in enumerate(parts) for pair in part}
    entries = defaultdict[int, set[int]](set)
    for entry, pair in zip(flows.groups.tolist(), _pairs(routes.network, flows), strict=True):
        entries[entry].add(place_of.get(pair, 0))
    mixed = any(len(places) > 1 for places in entries.values())
    found = Split(routes.network, tuple(map(tuple, parts)), first, mask, mixed)
    return found if first + len(parts) <= N_CLASSES else None


def _pairs(network: Topology, flows: Flows) -> list[Pair]:
    """The first and the last switch of each flow."""
    found = list(
        zip(*(network.racks[end].tolist() for end in flows.ends_on_network(network)), strict=True)
    )
    for flow, path in flows.paths.items():
        found[flow] = int(path[1]), int(path[-2])
    return found


def _ways(routes: Routes, flows: Flows) -> list[tuple[Pair, Collection[Turn]]]:
    """The turns of the flows between each two switches, those of a path of their own apart."""
    network = routes.network
    free = np.ones(len(flows), dtype=bool)
    free[list(flows.paths)] = False
    src, dst = flows.ends_on_network(network)
    racks = network.racks
    begins = defaultdict[int, set[int]](set)
    for begin, host in zip(racks[src[free]].tolist(), dst[free].tolist(), strict=True):
        begins[host].add(begin)
    found: dict[Pair, dict[Turn, None]] = defaultdict(dict)
    for end, hosts in enumerate(routes.ends):
        last = routes.rack(end)
        for begin in set[int]().union(*(begins[host] for host in hosts)) - {last}:
            found[begin, last] |= routes.turns(end, {begin})
    for path in flows.paths.values():
        switches: Sequence[int] = path.tolist()[1:-1]
        turns = itertools.pairwise(itertools.pairwise(switches))
        found[switches[0], switches[-1]] |= dict.fromkeys(turns)
    return sorted(found.items(), key=lambda one: one[0])
