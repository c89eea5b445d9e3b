"""Whether the flows of a run have a cyclic buffer dependency, for the routes at all times.

What a dependency is, and those of all shortest paths, are in pyorch.network.cycles.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import Literal

import numpy as np
import numpy.typing as npt

from pyorch.base import units
from pyorch.network import topology
from pyorch.network.cycles import Egress, ShortestPaths, find_cycle
from pyorch.network.topology import SWITCH, Topology
from pyorch.setting.canonical import Setting
from pyorch.setting.tagger import has_rules, is_lossless_cycle
from pyorch.traffic import base as traffic

_Edges = dict[tuple[Egress, Egress], None]
"""Dependencies, each once, in the order in which they were found."""
BROKEN = "but not within lossless classes"
Verdict = Literal["none", "possible", "certain"]
"""Whether flows have a cyclic dependency; possible: it depends on what ECMP chooses."""


@dataclass(frozen=True)
class FlowCycle:
    """Result for the paths of a run's flows.

    since_ps: start of the routes with the cycle [ps]. cycle: egresses in order. is_broken: whether
    no cycle of these routes is within lossless classes, see pyorch.setting.tagger.
    """

    verdict: Verdict
    since_ps: int = 0
    cycle: tuple[Egress, ...] = ()
    is_broken: bool = False


@dataclass
class Ways:
    """The routes between switches at one time; switches may have different information.

    failed: by switch, the links that it knows to be down. diverted: (switch, host) -> neighbour.
    """

    network: Topology
    failed: Mapping[int, frozenset[int]]
    diverted: Mapping[tuple[int, int], int]
    _paths: dict[frozenset[int], ShortestPaths] = field(default_factory=dict)

    def next_hops(self, switch: int, host: int) -> list[int]:
        """The next hops of a switch towards a host: neighbours that are switches, or none."""
        network = self.network
        diverted = self.diverted.get((switch, network.far(host)))
        if diverted is not None:
            return [diverted] if network.kinds[network.far(diverted)] == SWITCH else []
        failed = self.failed[switch]
        if failed not in self._paths:
            self._paths[failed] = ShortestPaths.of(self.network, failed)
        paths = self._paths[failed]
        here = int(np.searchsorted(paths.switches, switch))
        there = int(np.searchsorted(paths.switches, self.network.racks[host]))
        if here == there:
            return []
        near = np.flatnonzero(paths.adjacency[here])
        nearer = near[paths.distance[near, there] == paths.distance[here, there] - 1]
        return [
            neighbour
            for node in paths.switches[nearer].tolist()
            for neighbour in network.neighbours_by(switch, node)
            if network.links[switch, neighbour] not in failed
        ]


def flow_cycle(setting: Setting, seed: int) -> FlowCycle:
    """Return whether the flows of a run have a cyclic buffer dependency.

    The routes are checked at the start and after every change of a route or a link, as each switch
    learns of it; the result is the first cycle found, a certain one in preference to a possible
    one, one within lossless classes in preference to any other. It is certain if none of its paths
    depends on a choice. Frames wait for those of their own class, so that each class is judged
    alone, or all together where a tagger changes classes.
    """
    network = topology.build(setting.topology)
    if SWITCH not in network.kinds:  # two hosts back to back
        return FlowCycle("none")
    flows = traffic.flows(setting.traffic, network, seed, setting.run.duration)
    free = np.ones(len(flows), dtype=bool)
    free[list(flows.paths)] = False
    diverted = {network.numbers[route.dst] for route in setting.routes}
    src, dst = flows.ends_on_network(network)
    free &= (src != dst) & (network.kinds[network.racks[src]] == SWITCH)
    every = np.unique(flows.classes).tolist()
    groups = []
    for used in [every] if has_rules(setting) else [[cls] for cls in every]:
        mine = np.isin(flows.classes, used)
        pinned = [flows.paths[flow].tolist() for flow in sorted(flows.paths) if mine[flow]]
        pairs = _different(network, src[free & mine], dst[free & mine], diverted)
        groups.append((used, pinned, pairs))
    best = FlowCycle("none")
    for (since, ways), (used, pinned, pairs) in itertools.product(phases(setting, network), groups):
        certain, possible = _dependencies(network, pairs, pinned, ways)
        verdict: Verdict = "certain"
        cycle = _cycle(certain)
        if not cycle and not (best.cycle and not best.is_broken):
            verdict = "possible"
            cycle = _cycle(possible)
        if cycle:
            broken = not is_lossless_cycle(setting, network, possible, used)
            best = max(best, FlowCycle(verdict, since, tuple(cycle), broken), key=_severity)
        if all(_severity(best)):
            break
    return best


def _severity(found: FlowCycle) -> tuple[bool, bool, bool]:
    is_there = bool(found.cycle)
    return is_there and not found.is_broken, is_there, found.verdict == "certain"


def _cycle(edges: _Edges) -> list[Egress]:
    """Return the egresses of a cycle in order; empty when there is none."""
    after: dict[Egress, list[Egress]] = defaultdict(list)
    for one, other in edges:
        after[one].append(other)
    try:
        TopologicalSorter(after).prepare()
    except CycleError:
        import networkx as nx  # takes 0.2 s, and most networks have no cycle

        return find_cycle(nx.DiGraph(list(edges)))
    return []


def _different(
    network: Topology,
    src: npt.NDArray[np.uint32],
    dst: npt.NDArray[np.uint32],
    diverted: Collection[int],
) -> list[tuple[int, int]]:
    """Return one (source, destination) of all that take the same ways, the least of each, sorted.

    Without routes of their own all hosts of a switch are reached in the same way.
    """
    nodes = len(network.racks)
    every = src.astype(np.int64) * nodes + dst
    # the same, faster where many flows share few pairs
    both = np.flatnonzero(np.bincount(every)) if nodes**2 < len(every) else np.unique(every)
    src, dst = np.divmod(both, nodes)
    racks = network.racks.astype(np.int64)
    own = np.isin(network.ends[dst], list(diverted))
    ways = racks[src] * 2 * nodes + np.where(own, dst, nodes + racks[dst])
    first = np.sort(np.unique(ways, return_index=True)[1])
    return list(zip(src[first].tolist(), dst[first].tolist(), strict=True))


def _dependencies(
    network: Topology,
    pairs: Sequence[tuple[int, int]],
    pinned: Iterable[Sequence[int]],
    ways: Ways,
) -> tuple[_Edges, _Edges]:
    """Return the dependencies that there are for certain, and all that there may be."""
    certain: _Edges = {}
    possible: _Edges = {}
    for path in pinned:
        turns = itertools.pairwise(network.egresses(path)[1:-1])  # between switches
        for before, after in turns:
            certain[before, after] = possible[before, after] = None
    for src, dst in pairs:
        sure = True
        waiting: list[tuple[Egress | None, int]] = [(None, int(network.racks[src]))]
        seen: set[Egress] = set()
        while waiting:
            came, node = waiting.pop()
            hops = ways.next_hops(node, dst)
            sure = sure and len(hops) == 1
            for nearer in hops:
                egress = node, nearer
                if came is not None:
                    possible[came, egress] = None
                    if sure:
                        certain[came, egress] = None
                if egress not in seen:
                    seen.add(egress)
                    waiting.append((egress, network.far(nearer)))
    return certain, possible


def ways_at_start(setting: Setting, network: Topology) -> Ways:
    """Return the routes at the start of a run."""
    return phases(setting, network)[0][1]


@dataclass(frozen=True)
class Way:
    """The part of a network crossed by some flows; flows between the same switches share one.

    pairs: (source, destination) -> number of flows. between: the egresses between switches, and
    whether all of the flows certainly cross them (otherwise it depends on ECMP).
    """

    pairs: Mapping[tuple[int, int], int]
    between: Mapping[Egress, bool]

    def crossed(self, network: Topology) -> dict[Egress, tuple[int, bool]]:
        """Return the number of flows that (may) cross each egress, and whether all certainly do."""
        found = {egress: (sum(self.pairs.values()), sure) for egress, sure in self.between.items()}
        for (src, dst), flows in self.pairs.items():
            for egress in (network.access(src), network.reverse(network.access(dst))):
                found[egress] = (found.get(egress, (0, True))[0] + flows, True)
        return found


def flow_ways(setting: Setting, seed: int, network: Topology) -> list[Way]:
    """Return the paths of a run's flows for the routes at its start."""
    flows = traffic.flows(setting.traffic, network, seed, setting.run.duration)
    pinned = [flows.paths[flow].tolist() for flow in sorted(flows.paths)]
    found = [
        Way({network.path_ends(path): 1}, dict.fromkeys(network.egresses(path)[1:-1], True))
        for path in pinned
    ]
    free = np.ones(len(flows), dtype=bool)
    free[list(flows.paths)] = False
    src, dst = flows.ends_on_network(network)
    free &= (src != dst) & (network.kinds[network.racks[src]] == SWITCH)
    ways = ways_at_start(setting, network)
    own = {host for _, host in ways.diverted}
    groups: dict[tuple[int, int], dict[tuple[int, int], int]] = {}
    for pair, count in Counter(zip(src[free].tolist(), dst[free].tolist(), strict=True)).items():
        begin, end = (int(network.racks[host]) for host in pair)
        to = pair[1] if network.far(pair[1]) in own else end
        groups.setdefault((begin, to), {})[pair] = count
    hops: dict[tuple[int, int], list[int]] = {}
    for (begin, end), pairs in sorted(groups.items()):
        dst_host = next(iter(pairs))[1]
        between: dict[Egress, bool] = {}
        waiting, seen, sure = [begin], {begin}, True
        for node in waiting:  # grows meanwhile; a way without a choice has one node at a time
            if (node, end) not in hops:
                hops[node, end] = ways.next_hops(node, dst_host)
            sure = sure and len(hops[node, end]) == 1
            for nearer in hops[node, end]:
                between[node, nearer] = sure
                if (switch := network.far(nearer)) not in seen:
                    seen.add(switch)
                    waiting.append(switch)
        found.append(Way(pairs, between))
    return found


def phases(setting: Setting, network: Topology) -> list[tuple[int, Ways]]:
    """Return the ways at the start and after each change, with the time [ps] of each."""
    delays = _route_delays(setting, network)
    switches = np.flatnonzero(network.kinds == SWITCH).tolist()
    links: dict[int, list[tuple[int, bool]]] = defaultdict(list)
    for link, down, up in network.failures:
        links[link] += [(down, False)] + ([(up, True)] if up >= 0 else [])
    changes = {when for events in links.values() for when, _ in events}
    times = {0} | {when + delays[node] if when else 0 for when in changes for node in switches}
    for route in setting.routes:
        times |= {route.at} if route.until is None else {route.at, route.until}
    end = setting.run.latest_end
    shared: dict[frozenset[int], ShortestPaths] = {}
    phases = []
    for time in sorted(when for when in times if when <= end):
        failed = {node: _failed(links, time, delays[node]) for node in switches}
        diverted = {
            (port[0], network.numbers[route.dst]): port[1]
            for route in sorted(setting.routes, key=lambda route: route.at)
            if route.at <= time and (route.until is None or time < route.until)
            for port in [network.port(route.switch, route.next)]
            if port is not None
        }
        phases.append((time, Ways(network, failed, diverted, shared)))
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


def _route_delays(setting: Setting, network: Topology) -> dict[int, int]:
    """Return by switch how long it takes to learn of a link [ps]."""
    kind, key = "ns3::lossless::Switch", "RouteDelay"
    common = setting.attributes.get(kind, {}).get(key, "0ps")
    delays = dict.fromkeys(np.flatnonzero(network.kinds == SWITCH).tolist(), common)
    for entry in setting.nodes:
        value = entry.attributes.get(kind, {}).get(key)
        if value is not None:
            delays |= {network.numbers[name]: value for name in entry.nodes}
    return {node: units.parse_time(value) for node, value in delays.items()}


def describe_cycle(found: FlowCycle, names: Sequence[str]) -> str:
    """Return a verdict in words: "no cyclic buffer dependency", or the cycle."""
    if found.verdict == "none":
        return "no cyclic buffer dependency"
    ports = [f"{names[node]}:{names[peer]}" for node, peer in found.cycle]
    way = " -> ".join([*ports, ports[0]])
    since = f" from {units.format_time(found.since_ps)} on" if found.since_ps else ""
    maybe = "" if found.verdict == "certain" else " if ECMP chooses so"
    within = f", {BROKEN}" if found.is_broken else ""
    return f"cyclic buffer dependency{since}{maybe}{within}: {way}"
