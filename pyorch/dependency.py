"""Buffer dependencies of a network before it runs: whether a deadlock can be at all.

An egress depends on the next egress of every path that uses both, because the frames in the buffer
between them wait for it. A cycle of such dependencies is necessary for a deadlock and not
sufficient (Dally and Seitz 1987; GFC, SIGCOMM 2019, section 2).
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import networkx as nx
import numpy as np
import numpy.typing as npt

from pyorch import units
from pyorch.config import topology, traffic
from pyorch.config.topology import SWITCH, Topology

Egress = tuple[int, int]
"""A node and the neighbour that its port leads to, as node numbers."""

Turn = tuple[int, int, int]
"""Three nodes in a row on a path: the egress of the first depends on that of the second."""

Matrix = npt.NDArray[np.bool_]
Places = npt.NDArray[np.int64]
NO_NODE = -1
MOST_SUMS = 20_000_000
"""How many sums of distances are made at a time: 40 MB."""


@dataclass(frozen=True)
class ShortestPaths:
    """The shortest paths between the switches of a network; a switch's place is its row here.

    switches: node number by place. adjacency, distance: (switches, switches), whether there is a
    link that is up, and how many of them apart [hops]; more than any sum of hops where there is no
    way. edges: places of the switches that have hosts.
    """

    switches: Places
    adjacency: Matrix
    distance: npt.NDArray[np.int16]
    edges: Places

    @classmethod
    def of(cls, network: Topology, failed: Iterable[int] | None = None) -> ShortestPaths:
        """Find them. failed: links that are down; by default those down from the start."""
        switches, place = _places(network)
        adjacency = _adjacency(network, place, network.failed_links if failed is None else failed)
        edges = np.unique(place[network.racks[network.hosts]])
        return cls(switches, adjacency, _distances(adjacency), edges)

    def has_choice(self) -> bool:
        """Whether somewhere a frame may go on to several neighbours, all as near to its end."""
        near = (self.distance[:, end] for end in self.edges)
        return any(
            bool((self.adjacency & (to[:, None] == to[None, :] + 1)).sum(axis=1).max() > 1)
            for to in near
        )

    def turns(self) -> Places:
        """The turns of all shortest paths between two edges, as places: (turns, 3)."""
        turns = _all_turns(self.adjacency)
        parts = 1 + len(turns) * len(self.edges) ** 2 // MOST_SUMS
        used = [self._lengths(part) == self._between() for part in np.array_split(turns, parts)]
        found: Places = turns[np.concatenate([part.any(axis=(1, 2)) for part in used])]
        return found

    def pairs(self, turn: Turn) -> Places:
        """The pairs of edges that a turn lies between on a shortest path: (pairs, 2) places."""
        used = self._lengths(np.array([turn]))[0] == self._between()
        return self.edges[np.argwhere(used)]

    def _lengths(self, turns: Places) -> npt.NDArray[np.int16]:
        """Hops from edge to edge by way of a turn: (turns, edges, edges)."""
        before = self.distance[np.ix_(turns[:, 0], self.edges)]
        after = self.distance[np.ix_(turns[:, 2], self.edges)]
        lengths: npt.NDArray[np.int16] = before[:, :, None] + np.int16(2) + after[:, None, :]
        return lengths

    def _between(self) -> npt.NDArray[np.int16]:
        between: npt.NDArray[np.int16] = self.distance[np.ix_(self.edges, self.edges)]
        return between

    def walk(self, start: int, end: int, random: np.random.Generator) -> list[int]:
        """The places of a shortest path, each next hop drawn among those that are as near."""
        path = [start]
        while path[-1] != end:
            nearer = self.distance[:, end] == self.distance[path[-1], end] - 1
            path.append(int(random.choice(np.flatnonzero(self.adjacency[path[-1]] & nearer))))
        return path


def _places(network: Topology) -> tuple[Places, Places]:
    """Return the node numbers of the switches by place, and the place by node number."""
    switches = np.flatnonzero(network.kinds == SWITCH)
    place = np.full(len(network.names), -1)
    place[switches] = np.arange(len(switches))
    return switches, place


def _adjacency(network: Topology, place: Places, failed: Iterable[int]) -> Matrix:
    up = np.ones(len(network.a), dtype=bool)
    up[list(failed)] = False
    up &= (place[network.a] >= 0) & (place[network.b] >= 0)
    a, b = place[network.a[up]], place[network.b[up]]
    count = int(place.max(initial=-1)) + 1
    adjacency = np.zeros((count, count), dtype=bool)
    adjacency[a, b] = adjacency[b, a] = True
    return adjacency


def _all_turns(adjacency: Matrix) -> Places:
    """Return all ways over two links that do not go back, as places: (turns, 3)."""
    before, middle = np.nonzero(adjacency)
    turn, after = np.nonzero(adjacency[middle])
    turns: Places = np.stack([before[turn], middle[turn], after], axis=1)
    onward: Places = turns[turns[:, 0] != turns[:, 2]]
    return onward


def _distances(adjacency: Matrix) -> npt.NDArray[np.int16]:
    """Return the hops between switches, of one network or of several: (..., switches, switches)."""
    count = adjacency.shape[-1]
    distance = np.full(adjacency.shape, 4 * count, dtype=np.int16)
    links = adjacency.astype(np.float32)  # counts are exact below 2**24
    front = np.broadcast_to(np.eye(count, dtype=bool), adjacency.shape)
    reached = front.copy()
    for hops in range(count):
        distance[front] = hops
        front = (front.astype(np.float32) @ links > 0) & ~reached
        if not front.any():
            break
        reached |= front
    return distance


def route_dependencies(paths: ShortestPaths) -> nx.DiGraph[Egress]:
    """Return the dependencies of all shortest paths between hosts on different switches.

    Nodes of the graph are egresses between switches; hosts' links cannot be part of a cycle.
    """
    graph: nx.DiGraph[Egress] = nx.DiGraph()
    for first, second, third in paths.switches[paths.turns()].tolist():
        graph.add_edge((first, second), (second, third))
    return graph


def has_cycle(network: Topology, failed: Collection[int] | None = None) -> bool:
    """Whether the shortest paths between hosts have a cyclic dependency."""
    return have_cycles(network, [network.failed_links if failed is None else failed])[0]


def have_cycles(network: Topology, draws: Sequence[Collection[int]]) -> list[bool]:
    """`has_cycle` for several sets of failed links: together they take a fraction of the time.

    It says what a cycle of `route_dependencies` is, without its graph.
    """
    _, place = _places(network)
    turns = _all_turns(_adjacency(network, place, ()))
    edges = np.unique(place[network.racks[network.hosts]])
    half = len(draws) // 2
    if half and len(draws) * len(turns) * len(edges) ** 2 > MOST_SUMS:
        return have_cycles(network, draws[:half]) + have_cycles(network, draws[half:])
    adjacency = np.stack([_adjacency(network, place, failed) for failed in draws])
    distance = _distances(adjacency)
    hops, between = distance[:, :, edges], distance[:, edges][:, :, edges]
    begun, ended = (adjacency[:, turns[:, at], turns[:, at + 1]] for at in (0, 1))
    draw, turn = np.nonzero(begun & ended)
    first, second, third = turns[turn].T
    lengths = hops[draw, first][:, :, None] + np.int16(2) + hops[draw, third][:, None, :]
    used = (lengths == between[draw]).any(axis=(1, 2))
    count = len(place)
    before = ((draw * count + first) * count + second)[used]
    after = ((draw * count + second) * count + third)[used]
    left = len(after) + 1
    while len(after) < left:  # take away what depends on nothing that is left
        left = len(after)
        kept = np.isin(before, after)
        before, after = before[kept], after[kept]
    cyclic = set((before // count**2).tolist())
    return [number in cyclic for number in range(len(draws))]


def find_cycle(graph: nx.DiGraph[Egress]) -> list[Egress]:
    """Return the egresses of a cycle of a dependency graph in order; empty when there is none."""
    if nx.is_directed_acyclic_graph(graph):  # in linear time, unlike the search for a cycle
        return []
    part = max(nx.strongly_connected_components(graph), key=lambda nodes: (len(nodes), min(nodes)))
    return [egress for egress, _ in nx.find_cycle(graph.subgraph(part), source=min(part))]


def draw_paths_around_cycle(
    network: Topology, each: int, random: np.random.Generator
) -> list[list[int]]:
    """Draw paths that together close a cyclic buffer dependency.

    For every dependency of one cycle of the shortest paths, `each` paths from host to host that
    use it, drawn among the shortest. Returns node numbers; nothing when there is no such cycle.
    """
    paths = ShortestPaths.of(network)
    cycle = find_cycle(route_dependencies(paths))
    place = {int(switch): number for number, switch in enumerate(paths.switches)}
    hosts = network.hosts
    drawn = []
    for (first, second), (_, third) in zip(cycle, [*cycle[1:], *cycle[:1]], strict=True):
        turn = place[first], place[second], place[third]
        pairs = paths.pairs(turn)
        for _ in range(each):
            start, end = random.choice(pairs).tolist()
            way = [*paths.walk(start, turn[0], random), turn[1], *paths.walk(turn[2], end, random)]
            nodes = [int(paths.switches[number]) for number in way]
            ends = [
                int(random.choice(hosts[network.racks[hosts] == n])) for n in (nodes[0], nodes[-1])
            ]
            drawn.append([ends[0], *nodes, ends[1]])
    return drawn


# ---------------------------------------------------------------------------------------------
# The flows of a run


Verdict = Literal["none", "possible", "certain"]
"""Whether flows have a cyclic dependency; possible: it depends on what ECMP chooses."""


@dataclass(frozen=True)
class FlowCycle:
    """What the paths of a run's flows make of its buffers.

    since_ps: from when on [ps], with the routes that hold then. cycle: egresses in order.
    """

    verdict: Verdict
    since_ps: int = 0
    cycle: tuple[Egress, ...] = ()


@dataclass
class _Ways:
    """The ways from switch to switch at one time; what every switch knows may differ.

    failed: by switch, the links that it knows to be down. diverted: (switch, host) -> next node.
    """

    network: Topology
    failed: Mapping[int, frozenset[int]]
    diverted: Mapping[tuple[int, int], int]
    _paths: dict[frozenset[int], ShortestPaths] = field(default_factory=dict)

    def next_hops(self, switch: int, host: int) -> list[int]:
        """Where a switch may send what goes to a host: other switches, or nothing."""
        diverted = self.diverted.get((switch, host))
        if diverted is not None:
            return [diverted] if self.network.kinds[diverted] == SWITCH else []
        failed = self.failed[switch]
        if failed not in self._paths:
            self._paths[failed] = ShortestPaths.of(self.network, failed)
        paths = self._paths[failed]
        here = int(np.searchsorted(paths.switches, switch))
        there = int(np.searchsorted(paths.switches, self.network.racks[host]))
        if here == there:
            return []
        nearer = paths.adjacency[here] & (
            paths.distance[:, there] == paths.distance[here, there] - 1
        )
        return [int(node) for node in paths.switches[nearer]]


def flow_cycle(data: Mapping[str, Any]) -> FlowCycle:
    """Say whether the flows of a run (`RunSpec.data`) have a cyclic buffer dependency.

    Looked at are the routes at the start and after every change of a route or a link, as each
    switch learns of it; the first cycle found is told, a certain one before a possible one. It is
    certain when every path that makes it up has no choice. Raises UserError when the data are not
    canonical.
    """
    network = topology.build(data["topology"])
    flows = traffic.flows(data["traffic"], network, data["seed"], data["run"]["duration_ps"])
    pinned = [flows.paths[flow].tolist() for flow in sorted(flows.paths)]
    free = np.ones(len(flows), dtype=bool)
    free[list(flows.paths)] = False
    diverted = {network.numbers[route["dst"]] for route in data["routes"]}
    pairs = _different(network, flows.src[free], flows.dst[free], diverted)
    best = FlowCycle("none")
    for since, ways in _phases(data, network):
        certain, possible = _dependencies(network, pairs, pinned, ways)
        cycle = find_cycle(certain)
        if cycle:
            return FlowCycle("certain", since, tuple(cycle))
        cycle = find_cycle(possible) if best.verdict == "none" else []
        best = FlowCycle("possible", since, tuple(cycle)) if cycle else best
    return best


def _different(
    network: Topology,
    src: npt.NDArray[np.uint32],
    dst: npt.NDArray[np.uint32],
    diverted: Collection[int],
) -> list[tuple[int, int]]:
    """Return one (source, destination) of all that take the same ways, the least of each, sorted.

    Without routes of their own all hosts of a switch are reached in the same way.
    """
    nodes = len(network.names)
    both = np.unique(src.astype(np.int64) * nodes + dst)  # sorted
    src, dst = np.divmod(both, nodes)
    racks = network.racks.astype(np.int64)
    own = np.isin(dst, list(diverted))
    ways = racks[src] * 2 * nodes + np.where(own, dst, nodes + racks[dst])
    first = np.sort(np.unique(ways, return_index=True)[1])
    return list(zip(src[first].tolist(), dst[first].tolist(), strict=True))


def _dependencies(
    network: Topology,
    pairs: Sequence[tuple[int, int]],
    pinned: Iterable[Sequence[int]],
    ways: _Ways,
) -> tuple[nx.DiGraph[Egress], nx.DiGraph[Egress]]:
    """Return the dependencies that there are for certain, and all that there may be."""
    certain: nx.DiGraph[Egress] = nx.DiGraph()
    possible: nx.DiGraph[Egress] = nx.DiGraph()
    for path in pinned:
        turns = itertools.pairwise(itertools.pairwise(path[1:-1]))  # between switches
        for before, after in turns:
            certain.add_edge(before, after)
            possible.add_edge(before, after)
    for src, dst in pairs:
        sure = True
        waiting: list[Egress] = [(NO_NODE, int(network.racks[src]))]
        seen: set[Egress] = set()
        while waiting:
            came, node = waiting.pop()
            hops = ways.next_hops(node, dst)
            sure = sure and len(hops) == 1
            for nearer in hops:
                if came != NO_NODE:
                    possible.add_edge((came, node), (node, nearer))
                    if sure:
                        certain.add_edge((came, node), (node, nearer))
                if (node, nearer) not in seen:
                    seen.add((node, nearer))
                    waiting.append((node, nearer))
    return certain, possible


def _phases(data: Mapping[str, Any], network: Topology) -> list[tuple[int, _Ways]]:
    """Return the ways at the start and after each change, with the time [ps] of each."""
    delays = _route_delays(data, network)
    switches = np.flatnonzero(network.kinds == SWITCH).tolist()
    links: dict[int, list[tuple[int, bool]]] = defaultdict(list)
    for link, down, up in network.failures:
        links[link] += [(down, False)] + ([(up, True)] if up >= 0 else [])
    changes = {when for events in links.values() for when, _ in events}
    times = {0} | {when + delays[node] if when else 0 for when in changes for node in switches}
    for route in data["routes"]:
        times |= {route["at_ps"]} | ({route["until_ps"]} if route["until_ps"] >= 0 else set())
    end = data["run"]["duration_ps"] + data["run"]["drain_ps"]
    shared: dict[frozenset[int], ShortestPaths] = {}
    phases = []
    for time in sorted(when for when in times if when <= end):
        failed = {node: _failed(links, time, delays[node]) for node in switches}
        diverted = {
            (network.numbers[route["switch"]], network.numbers[route["dst"]]): network.numbers[
                route["next"]
            ]
            for route in sorted(data["routes"], key=lambda route: route["at_ps"])
            if route["at_ps"] <= time and (route["until_ps"] < 0 or time < route["until_ps"])
        }
        phases.append((time, _Ways(network, failed, diverted, shared)))
    return phases


def _failed(
    links: Mapping[int, Sequence[tuple[int, bool]]], time: int, delay: int
) -> frozenset[int]:
    """Return the links that a switch knows to be down; those down from the start it knows then."""
    known = {
        link: [up for when, up in sorted(events) if when == 0 or when + delay <= time]
        for link, events in links.items()
    }
    return frozenset(link for link, states in known.items() if states and not states[-1])


def _route_delays(data: Mapping[str, Any], network: Topology) -> dict[int, int]:
    """Return by switch how long it takes to learn of a link [ps]."""
    kind, key = "ns3::lossless::Switch", "RouteDelay"
    common = data["attributes"].get(kind, {}).get(key, "0ps")
    delays = dict.fromkeys(np.flatnonzero(network.kinds == SWITCH).tolist(), common)
    for entry in data["nodes"]:
        value = entry["attributes"].get(kind, {}).get(key)
        if value is not None:
            delays |= {network.numbers[name]: value for name in entry["nodes"]}
    return {node: units.parse_time(value) for node, value in delays.items()}


def describe_cycle(found: FlowCycle, names: Sequence[str]) -> str:
    """Return a verdict in words: "no cyclic buffer dependency", or the cycle."""
    if found.verdict == "none":
        return "no cyclic buffer dependency"
    ports = [f"{names[node]}:{names[peer]}" for node, peer in found.cycle]
    way = " -> ".join([*ports, ports[0]])
    since = f" from {units.format_time(found.since_ps)} on" if found.since_ps else ""
    if found.verdict == "certain":
        return f"cyclic buffer dependency{since}: {way}"
    return f"cyclic buffer dependency{since} if ECMP chooses so: {way}"
