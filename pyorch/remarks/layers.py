"""Sums along the shortest paths of a network: least times, and the load of every link."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from pyorch.network.cycles import ShortestPaths
from pyorch.network.topology import SWITCH, Topology

Numbers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
MOST_SUMS = 4_000_000
"""Links between switches times switches with hosts: 32 MB for each table of sums."""


@dataclass(frozen=True)
class Layers:
    """The links between switches in both directions, by the hops that are left to each edge.

    Links are sorted by the switch from which they lead. Edges are the switches with hosts, in the
    order of `paths.edges`.
    """

    network: Topology
    paths: ShortestPaths

    @classmethod
    def of(cls, network: Topology) -> Layers | None:
        """Return the layers for the links that are up at the start; None of too large a network."""
        edges = len(np.unique(network.racks[network.attached]))
        if 2 * len(network.a) * edges > MOST_SUMS:
            return None
        return cls(network, ShortestPaths.of(network))

    @cached_property
    def _ports(self) -> Numbers:
        """The place of each link in `Topology.ports`: sorted by node, next node and link."""
        network = self.network
        up = np.ones(len(network.a), dtype=bool)
        up[list(network.failed_links)] = False
        up &= (network.kinds[network.a] == SWITCH) & (network.kinds[network.b] == SWITCH)
        places = np.flatnonzero(np.tile(up, 2))
        far = np.concatenate([network.b, network.a])
        order = np.lexsort((far[places], network.ports[0][places]))
        return places[order]

    @cached_property
    def _ends(self) -> tuple[Numbers, Numbers]:
        network = self.network
        far = np.concatenate([network.b, network.a])[self._ports]
        a, b = (np.searchsorted(self.paths.switches, end) for end in (self.nodes[0], far))
        return a, b

    @cached_property
    def links(self) -> Numbers:
        """The number of each link in the network, (links,)."""
        return self._ports % len(self.network.a)

    @property
    def nodes(self) -> tuple[Numbers, Numbers]:
        """The node and the neighbour of each link, both (links,)."""
        node, neighbour = self.network.ports
        return node[self._ports], neighbour[self._ports]

    def edge_of(self, hosts: Numbers) -> Numbers:
        """Return the number of each host's switch among the edges."""
        racks = np.searchsorted(self.paths.switches, self.network.racks[hosts])
        return np.searchsorted(self.paths.edges, racks)

    @cached_property
    def _distance(self) -> Numbers:
        """Hops from each switch to each edge."""
        return self.paths.distance[:, self.paths.edges].astype(np.int64)

    @cached_property
    def hops(self) -> Numbers:
        """Hops from each edge to each other, (edges, edges)."""
        return self._distance[self.paths.edges]

    @property
    def _hops(self) -> range:
        """The distances that there are, without those between parts of a network."""
        reached = self._distance[self._distance < len(self.paths.switches)]
        return range(1, int(reached.max(initial=0)) + 1)

    def _onward(self, hops: int) -> npt.NDArray[np.bool_]:
        """Whether each link leads from a distance to the next smaller one, (links, edges)."""
        a, b = self._ends
        onward: npt.NDArray[np.bool_] = (self._distance[a] == hops) & (
            self._distance[b] == hops - 1
        )
        return onward

    def least(self, weights: Floats) -> Floats:
        """Return the least sum of links' weights on a shortest path, (edges, edges).

        weights: (links,), of those of the network. Infinite where there is no path.
        """
        a, b = self._ends
        edges = self.paths.edges
        sums = np.full(self._distance.shape, np.inf)
        sums[edges, np.arange(len(edges))] = 0
        for hops in self._hops:
            there = weights[self.links][:, None] + sums[b]
            np.minimum.at(sums, a, np.where(self._onward(hops), there, np.inf))
        return sums[edges]

    def loads(self, matrix: Floats) -> Floats:
        """Return what each link carries of a traffic matrix, (links,), in the matrix's unit.

        matrix: (edges, edges), from and to. Every switch spreads it evenly over its next hops.
        """
        a, b = self._ends
        waiting = np.zeros(self._distance.shape)
        waiting[self.paths.edges] = matrix
        carried = np.zeros(len(a))
        for hops in reversed(self._hops):
            onward = self._onward(hops)
            choices = np.zeros(waiting.shape)
            np.add.at(choices, a, onward)
            share = np.where(onward, waiting[a] / np.maximum(choices[a], 1), 0)
            np.add.at(waiting, b, share)
            carried += share.sum(axis=1)
        return carried
