"""Up-down routing: links lead up towards a root, and no path goes up after it went down.

Schroeder et al., Autonet, IEEE Journal on Selected Areas in Communications 9(8), 1991 (recalled).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pyorch.config.cycles import Egress, Matrix, Places, ShortestPaths
from pyorch.config.topology import Topology
from pyorch.lab.price import Price, ecmp_loads, rates_of, worst

FAR = 1 << 20


@dataclass(frozen=True)
class UpDown:
    """Up-down routing of a network.

    paths: its shortest paths. height: (switches,), the place of each switch in the order, 0 is the
    root; a link leads up to the lower number. next_hop: (switches, hosts), the place of the next
    switch on the path to a host, in the order of network.hosts; -1 if there is none.
    """

    network: Topology
    paths: ShortestPaths
    height: Places
    next_hop: Places

    @classmethod
    def of(cls, network: Topology, root: int | None = None) -> UpDown:
        """Return the up-down routing of a network. root: the highest switch.

        Without a root, switches are ordered by tier, those farthest from hosts highest, if paths up
        and down then connect all hosts. Otherwise, or with a root, they are ordered by distance
        from it; the default root is the first of those farthest from hosts. A path goes down as
        soon as it can reach the destination that way, so one next hop per destination is enough.
        Equally good next hops are shared among the destinations.
        """
        if root is None:
            tiers = cls.by_tiers(network)
            ends = tiers.paths.switches[tiers.paths.edges]
            own = network.racks[network.hosts][None, :] == ends[:, None]
            if ((tiers.next_hop[tiers.paths.edges] >= 0) | own).all():
                return tiers
        paths = ShortestPaths.of(network)
        away = _away(paths)
        place = {int(switch): number for number, switch in enumerate(paths.switches)}
        top = int(np.argmax(away)) if root is None else place[root]
        height = _height(paths.distance[top])
        return cls(network, paths, height, _next_hops(network, paths, height, away))

    @classmethod
    def by_tiers(cls, network: Topology) -> UpDown:
        """Return the routing ordered by tier, whether its paths connect all hosts or not."""
        paths = ShortestPaths.of(network)
        away = _away(paths)
        height = _height(paths.distance[int(np.argmax(away))], -away)
        return cls(network, paths, height, _next_hops(network, paths, height, away))

    @cached_property
    def _places(self) -> dict[int, int]:
        return {int(switch): number for number, switch in enumerate(self.paths.switches)}

    def is_up(self, egress: Egress) -> bool:
        """Whether a link leads up."""
        return bool(self.height[self._places[egress[1]]] < self.height[self._places[egress[0]]])

    def path(self, start: int, host: int) -> list[int]:
        """The switches, as node numbers, from one switch to that of a host."""
        return [int(self.paths.switches[number]) for number in self._way(start, host)]

    def _way(self, start: int, host: int) -> list[int]:
        """The same path as places."""
        way, there = [self._places[start]], self._places[int(self.network.racks[host])]
        column = int(np.searchsorted(self.network.hosts, host))
        while way[-1] != there:
            way.append(int(self.next_hop[way[-1], column]))
        return way

    @cached_property
    def _ways(self) -> list[list[int]]:
        """Paths from every switch with hosts to every host of another one, as places."""
        starts = self.paths.switches[self.paths.edges].tolist()
        racks = self.network.racks.tolist()
        hosts = self.network.hosts.tolist()
        return [self._way(a, b) for b in hosts for a in starts if a != racks[b]]

    @cached_property
    def stretch(self) -> tuple[float, float]:
        """Mean and largest ratio of path length to the shortest, between switches with hosts."""
        ratios = [(len(w) - 1) / int(self.paths.distance[w[0], w[-1]]) for w in self._ways]
        return (float(np.mean(ratios)), float(np.max(ratios))) if ratios else (1.0, 1.0)

    @cached_property
    def throughput(self) -> float:
        """Throughput of equal flows from all switches with hosts to all hosts, relative to ECMP.

        It is limited by the most loaded link.
        """
        routed = np.zeros(self.paths.adjacency.shape)
        for way in self._ways:
            for one, other in itertools.pairwise(way):
                routed[one, other] += 1
        rates = rates_of(self.network, self.paths)
        if not rates.any() or not routed.any():
            return 1.0
        return worst(ecmp_loads(self.network, self.paths), rates) / worst(routed, rates)

    @property
    def price(self) -> Price:
        """The stretch and the throughput."""
        return Price(*self.stretch, self.throughput)

    def routes(self) -> Iterator[dict[str, Any]]:
        """Yield the [[route]] entries for this routing."""
        names = self.network.names
        for here, switch in enumerate(self.paths.switches.tolist()):
            towards: dict[int, list[str]] = {}
            for column, host in enumerate(self.network.hosts.tolist()):
                near = int(self.next_hop[here, column])
                if near >= 0:
                    towards.setdefault(near, []).append(names[host])
            for near, hosts in sorted(towards.items()):
                beyond = names[int(self.paths.switches[near])]
                yield {"switch": names[switch], "dst": hosts, "next": beyond}


def _away(paths: ShortestPaths) -> npt.NDArray[np.int16]:
    """Hops from each switch to the nearest one with hosts."""
    away: npt.NDArray[np.int16] = paths.distance[:, paths.edges].min(axis=1)
    return away


def _height(*keys: npt.NDArray[np.int16]) -> Places:
    """The places when sorted by some keys, the last key first, then by number."""
    order = np.lexsort(np.stack([np.arange(len(keys[0])), *keys]))
    height = np.empty(len(order), dtype=np.int64)
    height[order] = np.arange(len(order))
    return height


def _next_hops(
    network: Topology, paths: ShortestPaths, height: Places, away: npt.NDArray[np.int16]
) -> Places:
    """Return the next hop of every switch towards every host.

    away: hops to the nearest switch with hosts. A host's number chooses among equally good next
    hops, with a different digit of it in every tier, so that the choices are independent.
    """
    count = len(height)
    up = paths.adjacency & (height[None, :] < height[:, None])
    near: dict[int, list[npt.NDArray[np.int64]]] = {}
    hops: Places = np.full((count, len(network.hosts)), -1, dtype=np.int64)
    for host, rack in enumerate(network.racks[network.hosts].tolist()):
        end = int(np.searchsorted(paths.switches, rack))
        if end not in near:
            near[end] = _nearer(up, height, end)
        for node, good in enumerate(near[end]):
            if len(good):
                hops[node, host] = good[host // len(good) ** int(away[node]) % len(good)]
    return hops


def _nearer(up: Matrix, height: Places, end: int) -> list[npt.NDArray[np.int64]]:
    """Return by switch the neighbours that are equally good towards a switch."""
    count = len(height)
    down = np.full(count, FAR)  # hops of a path that only goes down
    down[end] = 0
    for node in np.argsort(-height, kind="stable").tolist():  # the lowest first
        below = np.flatnonzero(up[:, node])
        if len(below):
            down[node] = min(int(down[node]), int(down[below].min()) + 1)
    whole = down.copy()
    for node in np.argsort(height, kind="stable").tolist():  # the highest first
        above = np.flatnonzero(up[node])
        if down[node] >= FAR and len(above):
            whole[node] = min(FAR, int(whole[above].min()) + 1)
    found = []
    for node in range(count):
        goes_down = down[node] < FAR
        near = np.flatnonzero(up[:, node] if goes_down else up[node])
        good = (down if goes_down else whole)[near] == whole[node] - 1
        found.append(near[good & (node != end) & (whole[node] < FAR)])
    return found
