"""The price of a cure for deadlocks: longer paths, less throughput, lost paths."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pyorch.config.cycles import Egress, ShortestPaths
from pyorch.config.topology import Topology

Loads = npt.NDArray[np.float64]
"""A value for each link between switches, by the indices of its ends: (switches, switches)."""


@dataclass(frozen=True)
class Price:
    """The price of other paths between switches with hosts.

    mean, most: path length relative to the shortest paths. throughput: of equal flows from all
    switches with hosts to all hosts, relative to ECMP on all shortest paths.
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


def of_links(network: Topology, links: Collection[Egress]) -> Price:
    """Return the price of removing links: the rest is routed by ECMP on new shortest paths."""
    before = ShortestPaths.of(network)
    gone = network.failed_links | {network.links[link] for link in links}
    after = ShortestPaths.of(network, gone)
    ends = np.ix_(before.edges, before.edges)
    apart = before.distance[ends] > 0
    ratios = after.distance[ends][apart] / before.distance[ends][apart]
    if not ratios.size:
        return Price(1.0, 1.0, 1.0)
    rates = rates_of(network, before)
    share = worst(ecmp_loads(network, before), rates) / worst(ecmp_loads(network, after), rates)
    return Price(float(ratios.mean()), float(ratios.max()), share)


def worst(loads: Loads, rates: Loads) -> float:
    """Return the load of the most loaded link relative to its rate."""
    used = rates > 0
    return float((loads[used] / rates[used]).max())


def ecmp_loads(network: Topology, paths: ShortestPaths) -> Loads:
    """Return the loads when each switch with hosts sends one unit to each host.

    Each switch divides its load evenly among the shortest paths, as ECMP does on average.
    """
    ends, hosts = np.unique(network.racks[network.hosts], return_counts=True)
    places = np.searchsorted(paths.switches, ends)
    loads = np.zeros(paths.adjacency.shape)
    for end, count in zip(places.tolist(), hosts.tolist(), strict=True):
        loads += count * _spread(paths, end)
    return loads


def _spread(paths: ShortestPaths, end: int) -> Loads:
    """Load of each link when each switch with hosts sends one unit to one switch."""
    distance = paths.distance[:, end]
    load = np.zeros(paths.adjacency.shape)
    held = np.zeros(len(distance))
    held[paths.edges] = 1.0
    for node in np.argsort(-distance, kind="stable").tolist():
        if node == end or not held[node]:
            continue
        near = np.flatnonzero(paths.adjacency[node] & (distance == distance[node] - 1))
        load[node, near] += held[node] / len(near)
        held[near] += held[node] / len(near)
    return load


def rates_of(network: Topology, paths: ShortestPaths) -> Loads:
    """Return the rates of the links that are up [bit/s], 0 if there is none."""
    place = {int(switch): number for number, switch in enumerate(paths.switches)}
    rates = np.zeros(paths.adjacency.shape)
    for (a, b), link in network.links.items():
        if a in place and b in place and link not in network.failed_links:
            rates[place[a], place[b]] = float(network.rates[link])
    return rates


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
