"""Traffic that drives a cycle of dependencies: flows on a network's routes along the cycle.

A cyclic dependency alone is not a deadlock: each link of the cycle must be overloaded, by more than
the traffic of the previous link. So there is a flow for each turn of the cycle, and one that enters
each link from elsewhere; where routes permit, each flow does both.
"""

from __future__ import annotations

import itertools
from collections import Counter, deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pyorch.base.errors import refusal
from pyorch.base.lazy import nx
from pyorch.network.cycles import Egress
from pyorch.network.topology import SWITCH, Topology
from pyorch.setting.dependency import Ways

Cycle = tuple[Egress, ...]
Path = tuple[int, ...]
"""Node numbers in order."""
NextHops = Mapping[int, Sequence[int]]
"""The next hops of each switch towards some hosts."""
Entries = Mapping[tuple[int, int], int]
"""[[route]] entries: the next node of a switch towards a host, as node numbers."""


@dataclass(frozen=True, order=True)
class Route:
    """The switches from one with hosts to that of a group of hosts, and the number of the group."""

    path: Path
    end: int

    @property
    def hops(self) -> list[Egress]:
        """Its egresses from switch to switch."""
        return list(itertools.pairwise(self.path))


@dataclass(frozen=True)
class Routes:
    """The routes of a network.

    ends: groups of hosts with the same next hops at every switch. hops: next hops for each group.
    """

    network: Topology
    ends: tuple[tuple[int, ...], ...]
    hops: tuple[NextHops, ...]

    @classmethod
    def of(cls, ways: Ways) -> Routes:
        """The routes at one time."""
        network = ways.network
        diverted = {host for _, host in ways.diverted}
        ends: dict[tuple[int, int], list[int]] = {}
        for host in network.hosts.tolist():
            own = host if host in diverted else -1
            ends.setdefault((int(network.racks[host]), own), []).append(host)
        switches = np.flatnonzero(network.kinds == SWITCH).tolist()
        hops = [
            {switch: tuple(ways.next_hops(switch, hosts[0])) for switch in switches}
            for hosts in ends.values()
        ]
        return cls(network, tuple(map(tuple, ends.values())), tuple(hops))

    @classmethod
    def shortest(cls, network: Topology) -> Routes:
        """All shortest paths over the links that are up at the start."""
        switches = np.flatnonzero(network.kinds == SWITCH).tolist()
        return cls.of(Ways(network, dict.fromkeys(switches, network.failed_links), {}))

    @cached_property
    def hosts(self) -> dict[int, list[int]]:
        """The hosts of each switch that has any."""
        found: dict[int, list[int]] = {}
        for host in self.network.hosts.tolist():
            found.setdefault(int(self.network.racks[host]), []).append(host)
        return found

    @property
    def has_pairs(self) -> bool:
        """Whether there are hosts on at least two switches."""
        return len(self.hosts) > 1

    def rack(self, end: int) -> int:
        """The switch of a group of hosts."""
        return int(self.network.racks[self.ends[end][0]])

    @cached_property
    def dependencies(self) -> nx.DiGraph[Egress]:
        """The turns of all routes between hosts on different switches."""
        graph: nx.DiGraph[Egress] = nx.DiGraph()
        for end in range(len(self.ends)):
            graph.add_edges_from(self.turns(end, set(self.hosts) - {self.rack(end)}))
        return graph

    def turns(self, end: int, starts: Collection[int]) -> dict[tuple[Egress, Egress], None]:
        """The turns of the routes from some switches to a group of hosts, in a fixed order."""
        hops, passed, waiting = self.hops[end], set(starts), sorted(starts)
        found: dict[tuple[Egress, Egress], None] = {}
        while waiting:
            node = waiting.pop()
            for near in hops[node]:
                found |= dict.fromkeys(((node, near), (near, far)) for far in hops[near])
                if near not in passed:
                    passed.add(near)
                    waiting.append(near)
        return found

    def cycles(self, most: int) -> list[Cycle]:
        """Cycles of dependencies, the shortest ones first: a shortest one through each egress."""
        found: set[Cycle] = set()
        for part in nx.strongly_connected_components(self.dependencies):
            if len(part) > 1:
                graph = self.dependencies.subgraph(part)
                found |= {_shortest_cycle(graph, egress) for egress in part}
        return sorted(found, key=lambda cycle: (len(cycle), cycle))[:most]

    # Paths

    def walk(self, start: int, end: int, random: np.random.Generator) -> Path:
        """A route from a switch to some hosts, each next hop drawn; () if it leads nowhere."""
        path = [start]
        while path[-1] != self.rack(end):
            near = self.hops[end][path[-1]]
            if not near or len(path) > len(self.hops[end]):
                return ()
            path.append(near[int(random.integers(len(near)))])
        return tuple(path)

    def through(
        self, way: Sequence[int], end: int, cycle: Collection[Egress], random: np.random.Generator
    ) -> Path:
        """A route to some hosts that contains a way; () if there is none.

        Elsewhere it avoids the cycle's egresses if possible, or at least those that lead to the
        way and away from it.
        """
        hops = self.hops[end]
        if any(near not in hops[node] for node, near in itertools.pairwise(way)):
            return ()
        before: dict[int, list[int]] = {}
        for node, nexts in hops.items():
            for near in nexts:
                before.setdefault(near, []).append(node)
        starts = set(self.hosts) - {self.rack(end)}
        beside = {(b, a) for a, b in cycle}
        for banned in (beside, {one for one in beside if one[0] == way[0]}, set[Egress]()):
            back = _nearest(way[0], before, starts, banned, random)
            if back:
                break
        beside = set(cycle)
        for banned in (beside, {one for one in beside if one[0] == way[-1]}, set[Egress]()):
            on = _nearest(way[-1], hops, {self.rack(end)}, banned, random)
            if on:
                break
        path = (*back[:0:-1], *way, *on[1:]) if back and on else ()
        return path if len(set(path)) == len(path) else ()


def refuse_bundles(network: Topology) -> None:
    """Raise UserError if two nodes, or a host, have several links: the laboratory knows one."""
    if network.several:
        what = f"host {network.names[next(iter(network.several))]} has several links"
        raise refusal("topology", what, "hosts with one link, for the laboratory")
    if network.bundles:
        node, neighbours = next((one, of) for (one, _), of in network.bundles.items())
        names = f"{network.names[node]} and {network.names[network.far(neighbours[0])]}"
        what = f"{names} have {len(neighbours)} links; the laboratory knows one between two nodes"
        hint = "links_per_spine = 1 and a larger uplink_rate; one entry of links for two nodes; "
        hint += 'of a file: parallel = "merge"'
        raise refusal("topology", what, "one link between two nodes", hint)


def route_tables(network: Topology, entries: Entries) -> list[dict[str, Any]]:
    """Return the [[route]] entries of an experiment file for some next hops."""
    towards: dict[tuple[int, int], list[int]] = {}
    for (switch, host), near in entries.items():
        towards.setdefault((switch, near), []).append(host)
    names = network.names
    return [
        {
            "switch": names[switch],
            "dst": [names[host] for host in sorted(hosts)],
            "next": names[near],
        }
        for (switch, near), hosts in sorted(towards.items())
    ]


def _shortest_cycle(graph: nx.DiGraph[Egress], egress: Egress) -> Cycle:
    """A shortest cycle through a node of a strongly connected graph, its lowest node first."""
    ways = (nx.shortest_path(graph, near, egress) for near in sorted(graph[egress]))
    shortest = min(ways, key=lambda way: (len(way), way))
    least = shortest.index(min(shortest))
    return (*shortest[least:], *shortest[:least])


def _nearest(
    start: int,
    hops: Mapping[int, Sequence[int]],
    goals: Collection[int],
    banned: Collection[Egress],
    random: np.random.Generator,
) -> Path:
    """A shortest way from a node to one of the goals without banned hops, or ()."""
    way: dict[int, Path] = {start: (start,)}
    waiting = deque([start])
    while waiting:
        node = waiting.popleft()
        if node in goals:
            return way[node]
        near = [one for one in hops.get(node, ()) if (node, one) not in banned and one not in way]
        for one in random.permutation(near).tolist():
            way[one] = (*way[node], one)
            waiting.append(one)
    return ()


# ---------------------------------------------------------------------------------------------
# Traffic


def drive(
    routes: Routes, cycle: Cycle, each: int, random: np.random.Generator, loose: bool = False
) -> list[Route]:
    """Routes of flows along a cycle: a number for each turn, and those that feed each link.

    Routes that use no egress of the cycle but the two of their turn are preferred. loose: use any
    route with the turn.
    """
    chosen: list[Route] = []
    for (a, b), (_, c) in zip(cycle, [*cycle[1:], *cycle[:1]], strict=True):
        options = _options(routes, (a, b, c), cycle, random)
        good = options if loose else _fewest(options, cycle)
        chosen += [good[int(random.integers(len(good)))] for _ in range(each if good else 0)]
    for before, egress in zip([*cycle[-1:], *cycle[:-1]], cycle, strict=True):
        if egress not in demanded(cycle, chosen):
            options = _options(routes, egress, cycle, random)
            chosen += _fewest([one for one in options if before not in one.hops], cycle)[:1]
    return chosen


def _options(
    routes: Routes, way: Sequence[int], cycle: Cycle, random: np.random.Generator
) -> list[Route]:
    """Routes that contain a way, one to each group of hosts for which there is one."""
    found = (Route(routes.through(way, end, cycle, random), end) for end in range(len(routes.ends)))
    return [route for route in found if route.path]


def _fewest(options: Sequence[Route], cycle: Cycle) -> list[Route]:
    """The routes that use the fewest egresses of a cycle."""
    used = [len(set(cycle).intersection(route.hops)) for route in options]
    return [route for route, count in zip(options, used, strict=True) if count == min(used)]


def demanded(cycle: Cycle, routes: Sequence[Route]) -> set[Egress]:
    """The links of a cycle that are fed both by the previous link and from elsewhere."""
    found = set()
    for before, egress in zip([*cycle[-1:], *cycle[:-1]], cycle, strict=True):
        if {before in route.hops for route in routes if egress in route.hops} == {True, False}:
            found.add(egress)
    return found


def draw_routes(routes: Routes, count: int, random: np.random.Generator) -> list[Route]:
    """Routes drawn at random between two hosts on different switches, which must exist."""
    chosen: list[Route] = []
    while len(chosen) < count:
        source = int(random.choice(routes.network.hosts))
        sink = int(random.choice(routes.network.hosts))
        route = _between(routes, source, sink, random)
        chosen += [route] if len(route.path) > 1 else []
    return chosen


def draw_permutation(routes: Routes, random: np.random.Generator) -> list[Path]:
    """Paths of a random permutation: from every host to another one."""
    hosts = random.permutation(routes.network.hosts).tolist()
    pairs = zip(hosts, [*hosts[1:], *hosts[:1]], strict=True)
    ways = ((a, _between(routes, a, b, random).path, b) for a, b in sorted(pairs))
    return [(a, *path, b) for a, path, b in ways if path]


def _between(routes: Routes, source: int, sink: int, random: np.random.Generator) -> Route:
    """A route from a host to another, each next hop drawn."""
    end = next(number for number, hosts in enumerate(routes.ends) if sink in hosts)
    return Route(routes.walk(int(routes.network.racks[source]), end, random), end)


def with_hosts(routes: Routes, chosen: Sequence[Route], random: np.random.Generator) -> list[Path]:
    """Return the paths of routes between hosts, at each end one of those with the fewest flows."""
    sends, takes = Counter[int](), Counter[int]()
    return [
        (
            _least_used(routes.hosts[route.path[0]], sends, random),
            *route.path,
            _least_used(routes.ends[route.end], takes, random),
        )
        for route in chosen
    ]


def _least_used(hosts: Sequence[int], used: Counter[int], random: np.random.Generator) -> int:
    least = min(used[host] for host in hosts)
    good = [host for host in hosts if used[host] == least]
    chosen = good[int(random.integers(len(good)))]
    used[chosen] += 1
    return chosen
