"""Buffer dependencies of a network before it runs: whether a deadlock is possible at all.

An egress depends on the next egress of every path that uses both, because the frames in the buffer
between them wait for it. A cycle of such dependencies is necessary for a deadlock, but not
sufficient (Dally and Seitz 1987; GFC, SIGCOMM 2019, section 2).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pyorch.base.lazy import nx
from pyorch.network.topology import SWITCH, Topology

Egress = tuple[int, int]
"""A node and the neighbour to which its port leads, as node numbers."""

Turn = tuple[int, int, int]
"""Three nodes in a row on a path: the egress of the first depends on that of the second."""

Matrix = npt.NDArray[np.bool_]
Places = npt.NDArray[np.int64]
Hops = npt.NDArray[np.signedinteger[Any]]
MOST_SUMS = 20_000_000
"""Number of sums of distances computed at a time: 40 MB."""


@dataclass(frozen=True)
class ShortestPaths:
    """The shortest paths between the switches of a network; a switch's place is its row here.

    switches: node number by place. adjacency, distance: (switches, switches), whether there is a
    link that is up, and the distance [hops], larger than any sum of hops if there is no path.
    edges: places of the switches that have hosts.
    """

    switches: Places
    adjacency: Matrix
    distance: Hops
    edges: Places

    @classmethod
    def of(cls, network: Topology, failed: Iterable[int] | None = None) -> ShortestPaths:
        """Compute the paths. failed: links that are down; by default those down from the start."""
        switches, place = _places(network)
        adjacency = _adjacency(network, place, network.failed_links if failed is None else failed)
        edges = _edges(network, place)
        return cls(switches, adjacency, _distances_of_one(adjacency), edges)

    def has_choice(self) -> bool:
        """Whether a frame can anywhere choose among several equally near next hops."""
        hops = self.distance[:, self.edges]
        return any(
            bool(((hops[near] + 1 == own).sum(axis=0) > 1).any())
            for near, own in zip(self.adjacency, hops, strict=True)
        )

    def turns(self) -> Places:
        """The turns of all shortest paths between two edges, as places: (turns, 3)."""
        turns = _all_turns(self.adjacency)
        parts = 1 + len(turns) * len(self.edges) ** 2 // MOST_SUMS
        used = [self._lengths(part) == self._between() for part in np.array_split(turns, parts)]
        found: Places = turns[np.concatenate([part.any(axis=(1, 2)) for part in used])]
        return found

    def pairs(self, turn: Turn) -> Places:
        """The pairs of edges between which a shortest path takes a turn: (pairs, 2) places."""
        used = self._lengths(np.array([turn]))[0] == self._between()
        return self.edges[np.argwhere(used)]

    def _lengths(self, turns: Places) -> Hops:
        """Hops from edge to edge via a turn: (turns, edges, edges)."""
        before = self.distance[np.ix_(turns[:, 0], self.edges)]
        after = self.distance[np.ix_(turns[:, 2], self.edges)]
        lengths: Hops = before[:, :, None] + np.int16(2) + after[:, None, :]
        return lengths

    def _between(self) -> Hops:
        between: Hops = self.distance[np.ix_(self.edges, self.edges)]
        return between

    def walk(self, start: int, end: int, random: np.random.Generator) -> list[int]:
        """The places of a shortest path, each next hop drawn among the equally near ones."""
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


def _edges(network: Topology, place: Places) -> Places:
    """Return the places of the switches with hosts; a host linked to another one has place -1."""
    edges = np.unique(place[network.racks[network.attached]])
    return edges[edges >= 0] if network.several else edges


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
    """Return all paths of two links that do not turn back, as places: (turns, 3)."""
    before, middle = np.nonzero(adjacency)
    turn, after = np.nonzero(adjacency[middle])
    turns: Places = np.stack([before[turn], middle[turn], after], axis=1)
    onward: Places = turns[turns[:, 0] != turns[:, 2]]
    return onward


def _distances(adjacency: Matrix) -> Hops:
    """Return the hops between switches of several networks: (networks, switches, switches)."""
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


def _distances_of_one(adjacency: Matrix) -> Hops:
    """Return the hops in one network, which may be large: whom a switch reaches are its bits."""
    count = len(adjacency)
    distance = np.full(adjacency.shape, 4 * count, dtype=np.int16 if count < 4096 else np.int32)
    joined, near = np.nonzero(adjacency)
    nodes, first = np.unique(joined, return_index=True)
    reached = np.packbits(np.eye(count, dtype=bool), axis=1)
    front = reached.copy()
    for hops in range(count):
        distance[np.unpackbits(front, axis=1, count=count).view(bool)] = hops
        if not len(nodes):
            break
        ahead = np.zeros_like(front)
        ahead[nodes] = np.bitwise_or.reduceat(front[near], first, axis=0)
        front = ahead & ~reached
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

    It gives the result of `route_dependencies` without building the graph.
    """
    _, place = _places(network)
    turns = _all_turns(_adjacency(network, place, ()))
    edges = _edges(network, place)
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
    while len(after) < left:  # remove what depends on nothing that is left
        left = len(after)
        kept = np.isin(before, after)
        before, after = before[kept], after[kept]
    cyclic = set((before // count**2).tolist())
    return [number in cyclic for number in range(len(draws))]


def find_cycle(graph: nx.DiGraph[Egress]) -> list[Egress]:
    """Return the egresses of a cycle of a dependency graph in order; empty if there is none."""
    if nx.is_directed_acyclic_graph(graph):  # in linear time, unlike the search for a cycle
        return []
    part = max(nx.strongly_connected_components(graph), key=lambda nodes: (len(nodes), min(nodes)))
    return [egress for egress, _ in nx.find_cycle(graph.subgraph(part), source=min(part))]


def draw_paths_around_cycle(
    network: Topology, each: int, random: np.random.Generator
) -> list[list[int]]:
    """Draw paths that together close a cyclic buffer dependency.

    For every dependency of one cycle of the shortest paths, `each` paths from host to host that
    use it, drawn among the shortest. Returns node numbers; nothing if there is no such cycle.
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
