"""The price of a cure for deadlocks: longer paths, less throughput, lost paths."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

import numpy as np

from pyorch.addons.lab.drive import NextHops, Routes
from pyorch.network.cycles import Egress, ShortestPaths
from pyorch.network.topology import Topology


@dataclass(frozen=True)
class Price:
    """The price of other paths between switches with hosts.

    mean, most: path length relative to the routes before. throughput: of equal flows from all
    switches with hosts to all hosts, relative to the same.
    """

    mean: float
    most: float
    throughput: float

    @property
    def words(self) -> str:
        """It for people."""
        return (
            f"paths {self.mean:.2f} times as long on average, {self.most:.2f} at most; "
            f"{100 * self.throughput:.0f} % of the throughput of all-to-all traffic"
        )


def price_of(routes: Routes, network: Topology, instead: Routes | None = None) -> Price | None:
    """Return the price of routes of a network.

    instead: those that they replace, by default all shortest paths. Each switch divides its load
    evenly among its next hops, as ECMP does on average. None: some routes have a loop or lead
    nowhere.
    """
    before, after = _walk(instead or Routes.shortest(network)), _walk(routes)
    if before is None or after is None:
        return None
    if not before.lengths:
        return Price(1.0, 1.0, 1.0)
    mean = np.mean([length / before.lengths[pair] for pair, length in after.lengths.items()])
    most = max(length / before.lengths[pair] for pair, length in after.longest.items())
    return Price(float(mean), most, before.worst(network) / after.worst(network))


@dataclass(frozen=True)
class _Walked:
    """What equal flows from all switches with hosts to all hosts of other switches use.

    lengths, longest: (switch, host) -> hops, on average and at most. loads: by egress.
    """

    lengths: Mapping[tuple[int, int], float]
    longest: Mapping[tuple[int, int], int]
    loads: Mapping[Egress, float]

    def worst(self, network: Topology) -> float:
        """The load of the most loaded link relative to its rate."""
        return max(
            load / int(network.rates[network.links[egress]]) for egress, load in self.loads.items()
        )


def _walk(routes: Routes) -> _Walked | None:
    """Follow all routes; None if some have a loop or lead nowhere."""
    lengths: dict[tuple[int, int], float] = {}
    longest: dict[tuple[int, int], int] = {}
    loads: dict[Egress, float] = defaultdict(float)
    for end, hops in enumerate(routes.hops):
        rack, hosts = routes.rack(end), routes.ends[end]
        starts = [start for start in routes.hosts if start != rack]
        order = _order(hops, starts, rack)
        if order is None:
            return None
        mean, most = {rack: 0.0}, {rack: 0}
        for node in order:
            if node != rack:
                mean[node] = 1 + sum(mean[near] for near in hops[node]) / len(hops[node])
                most[node] = 1 + max(most[near] for near in hops[node])
        lengths |= {(start, host): mean[start] for start in starts for host in hosts}
        longest |= {(start, host): most[start] for start in starts for host in hosts}
        held = dict.fromkeys(order, 0.0) | dict.fromkeys(starts, float(len(hosts)))
        for node in reversed(order):
            for near in hops[node] if node != rack else ():
                loads[node, near] += held[node] / len(hops[node])
                held[near] += held[node] / len(hops[node])
    return _Walked(lengths, longest, loads)


def _order(hops: NextHops, starts: Iterable[int], rack: int) -> list[int] | None:
    """The switches on the routes from some to one, this one first; None if some do not reach it."""
    reached: dict[int, Sequence[int]] = {}
    waiting = list(starts)
    for node in waiting:  # grows meanwhile
        if node not in reached:
            reached[node] = hops[node] if node != rack else ()
            if not reached[node] and node != rack:
                return None
            waiting += reached[node]
    try:
        return list(TopologicalSorter(reached).static_order())
    except CycleError:
        return None


@dataclass(frozen=True)
class LostPairs:
    """Pairs of switches with hosts, both directions, that lose paths without some turns.

    longer: pairs with only a longer path left. parted: pairs without any path. pairs: total number.
    """

    longer: int
    parted: int
    pairs: int

    @property
    def words(self) -> str:
        """It for people."""
        if not self.longer and not self.parted:
            return "none of path length: each pair keeps a shortest path"
        kinds = ((self.longer, "only a longer path"), (self.parted, "no path"))
        counted = [(count, text) for count, text in kinds if count]
        parts = [f"{count:,} keep{'s' if count == 1 else ''} {text}" for count, text in counted]
        return f"of {self.pairs:,} pairs of switches with hosts, {' and '.join(parts)}"


def of_turns(network: Topology, turns: Collection[tuple[Egress, Egress]]) -> LostPairs:
    """Return the pairs of switches with hosts that some turns leave without shortest paths."""
    paths = ShortestPaths.of(network)
    place = {int(switch): number for number, switch in enumerate(paths.switches)}
    shut = {(place[a], place[b], place[c]) for (a, b), (_, c) in turns}
    edges = set(paths.edges.tolist())
    lost = {start: edges - _reached(paths, start, shut) for start in edges}
    parted = {
        start: ends - _reached(paths, start, shut, longer=True)
        for start, ends in lost.items()
        if ends
    }
    longer, without = (sum(map(len, some.values())) for some in (lost, parted))
    return LostPairs(longer - without, without, len(edges) * (len(edges) - 1))


def _reached(
    paths: ShortestPaths, start: int, shut: Collection[tuple[int, int, int]], longer: bool = False
) -> set[int]:
    """The switches that a shortest path from one, or a longer one, reaches without some turns.

    No path turns back over the link by which it arrived.
    """
    distance = paths.distance[start]
    ahead = [
        np.flatnonzero(row if longer else row & (distance == distance[place] + 1)).tolist()
        for place, row in enumerate(paths.adjacency)
    ]
    waiting = [(start, near) for near in ahead[start]]
    seen = set(waiting)
    for before, node in waiting:  # grows meanwhile
        for near in ahead[node]:
            turn = (before, node, near)
            if near != before and (node, near) not in seen and turn not in shut:
                seen.add((node, near))
                waiting.append((node, near))
    return {start, *(node for _, node in seen)}
