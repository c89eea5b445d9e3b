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

    mask: of the lossless classes then.
    """

    network: Topology
    parts: tuple[tuple[Pair, ...], ...]
    first: int
    mask: int

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
        return f"class of their [[traffic]], buffer.lossless_classes = {self.mask}, {served}"


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
    found = Split(routes.network, tuple(map(tuple, parts)), first, mask)
    return found if first + len(parts) <= N_CLASSES else None


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
