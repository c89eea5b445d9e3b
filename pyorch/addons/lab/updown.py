"""Up-down routing: links lead up towards a root, and no path goes up after it went down.

Schroeder et al., Autonet, IEEE Journal on Selected Areas in Communications 9(8), 1991 (recalled).
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import Any

import numpy as np
import numpy.typing as npt

from pyorch.addons.lab.drive import Routes, route_tables
from pyorch.addons.lab.price import Price, price_of
from pyorch.base.lazy import nx
from pyorch.network.cycles import Egress, Matrix, Places, ShortestPaths
from pyorch.network.topology import Topology

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
        way, there = [self._places[start]], self._places[int(self.network.racks[host])]
        column = int(np.searchsorted(self.network.hosts, host))
        while way[-1] != there:
            way.append(int(self.next_hop[way[-1], column]))
        return [int(self.paths.switches[number]) for number in way]

    def price(self, instead: Routes | None = None) -> Price | None:
        """The price of the routing. instead: of what routes, by default all shortest paths."""
        hosts = self.network.hosts.tolist()
        hops = [
            [[near] if near >= 0 else [] for near in self.next_hop[:, column].tolist()]
            for column in range(len(hosts))
        ]
        return price_of(self._routes([(host,) for host in hosts], hops), self.network, instead)

    def price_of_all(self, instead: Routes | None = None) -> Price | None:
        """The price if each switch divided its load evenly among all equally good next hops."""
        racks = self.network.racks[self.network.hosts]
        ends = [self.network.hosts[racks == rack].tolist() for rack in np.unique(racks)]
        up = _up(self.paths, self.height)
        places = [self._places[int(rack)] for rack in np.unique(racks)]
        hops = [[near.tolist() for near in _nearer(up, self.height, place)] for place in places]
        return price_of(self._routes(ends, hops), self.network, instead)

    def _routes(self, ends: Sequence[Sequence[int]], hops: Sequence[list[list[int]]]) -> Routes:
        """Routes to groups of hosts from the places of the next hops of each place."""
        numbers = self.paths.switches.tolist()
        named = (
            {numbers[place]: [numbers[one] for one in near] for place, near in enumerate(some)}
            for some in hops
        )
        return Routes(self.network, tuple(map(tuple, ends)), tuple(named))

    def routes(self) -> list[dict[str, Any]]:
        """The [[route]] entries for this routing."""
        switches, hosts = self.paths.switches.tolist(), self.network.hosts.tolist()
        entries = {
            (switches[place], hosts[column]): switches[near]
            for (place, column), near in np.ndenumerate(self.next_hop)
            if near >= 0
        }
        return route_tables(self.network, entries)


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
    up = _up(paths, height)
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


def _up(paths: ShortestPaths, height: Places) -> Matrix:
    """Whether there is a link up from one switch to another."""
    up: Matrix = paths.adjacency & (height[None, :] < height[:, None])
    return up


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


# ---------------------------------------------------------------------------------------------
# Classes


def orders(network: Topology) -> tuple[UpDown, ...]:
    """Orders of the switches that can define what a turn from down to up is."""
    return UpDown.by_tiers(network), UpDown.of(network)


def most_bounces(graph: nx.DiGraph[Egress], updown: UpDown) -> int:
    """The maximum number of turns from down to up on a shortest path.

    Tagging moves a frame to the next lossless class at each of these turns: within a class paths go
    up and then down, and so have no cycle. The number is an upper bound: it is that of walks over
    turns of shortest paths, as long as the longest path. Fewer classes may suffice.
    """
    longest = int(updown.paths.distance[np.ix_(updown.paths.edges, updown.paths.edges)].max())
    bounces: Mapping[Egress, int] = dict.fromkeys(graph, 0)
    most = 0
    for _ in range(max(longest - 1, 0)):
        after: dict[Egress, int] = {}
        for before, turn in graph.edges:
            if before in bounces:
                up = int(not updown.is_up(before) and updown.is_up(turn))
                after[turn] = max(after.get(turn, 0), bounces[before] + up)
        bounces = after
        most = max([most, *after.values()])
    return most


def most_on_routes(routes: Routes, updown: UpDown) -> int:
    """The maximum number of turns from down to up on a route; those with a loop do not count."""
    most = 0
    for end, hops in enumerate(routes.hops):
        try:
            order = list(TopologicalSorter(hops).static_order())
        except CycleError:
            continue
        left: dict[tuple[int, bool], int] = {}  # by switch, and whether the frame came down
        for node, down in itertools.product(order, (False, True)):  # the next hops come first
            ups = [(near, updown.is_up((node, near))) for near in hops[node]]
            after = (int(down and up) + left[near, not up] for near, up in ups)
            left[node, down] = max(after, default=0)
        starts = set(routes.hosts) - {routes.rack(end)}
        most = max([most, *(left[start, False] for start in starts)])
    return most
