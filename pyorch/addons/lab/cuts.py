"""The fewest turns or links whose removal leaves no cycle of dependencies."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import Generic, TypeVar

import numpy as np

from pyorch.addons.lab.drive import Entries, Routes
from pyorch.base.lazy import nx
from pyorch.network.cycles import Egress, ShortestPaths, find_cycle, have_cycles, route_dependencies
from pyorch.network.topology import SWITCH, Topology, trunks
from pyorch.setting.dependency import Ways

Turn = tuple[Egress, Egress]
MOST_NODES = 2_000
"""Choices after which the exact search gives way to the greedy one."""
MOST_SETS = 5_000
"""Sets of links to try one by one before the greedy search takes over."""
MOST_ROUTED = 200
"""The same with [[route]] entries, with which a set takes longer."""
MOST_LINKS = 10
"""Links that the greedy search tries at each step."""
Item = TypeVar("Item", bound=Hashable)


def name_of_turn(network: Topology, turn: Turn) -> str:
    """A turn for people: the three nodes."""
    (a, b), (_, c) = turn
    return " > ".join(network.names[node] for node in (a, b, c))


@dataclass(frozen=True)
class Cut(Generic[Item]):
    """A set whose removal leaves no cycle.

    exact: there is no smaller one. Otherwise it was found by a greedy search, and `least` is a
    lower bound on the size of such a set.
    """

    items: tuple[Item, ...]
    exact: bool
    least: int


@dataclass(frozen=True)
class Judged:
    """The routes of a network that are judged: its [[route]] entries, and else all shortest paths.

    Links that are down at the start are not used.
    """

    network: Topology
    entries: Entries = field(default_factory=dict)

    def routes(self, more: Collection[int] = ()) -> Routes:
        """The routes. more: links that are removed, with the entries that use them."""
        network = self.network
        failed = network.failed_links | frozenset(more)
        kept = {
            (switch, host): near
            for (switch, host), near in self.entries.items()
            if network.links[switch, near] not in more
        }
        switches = np.flatnonzero(network.kinds == SWITCH).tolist()
        return Routes.of(Ways(network, dict.fromkeys(switches, failed), kept))

    def graph(self, more: Collection[int] = ()) -> nx.DiGraph[Egress]:
        """The dependencies of the routes."""
        if self.entries:
            return self.routes(more).dependencies
        gone = self.network.failed_links | frozenset(more)
        return route_dependencies(ShortestPaths.of(self.network, gone))

    def have_cycles(self, sets: Sequence[Collection[int]]) -> list[bool]:
        """Whether there is a cycle, for each of several sets of removed links."""
        if self.entries:
            return [bool(find_cycle(self.graph(more))) for more in sets]
        return have_cycles(self.network, [self.network.failed_links | set(one) for one in sets])


# ---------------------------------------------------------------------------------------------
# The fewest turns


def fewest_turns(graph: nx.DiGraph[Egress]) -> Cut[Turn]:
    """Return the fewest turns without which there is no cycle: a minimum feedback arc set.

    Cycles are found one after the other, and a smallest set is sought that hits all known ones,
    until it hits the unknown ones, too: then no smaller set can. The search for such a set is a
    branch and bound of ours; if that takes too long, the turns that hit most cycles go first.
    """
    known: list[frozenset[Turn]] = []
    exact, least = True, 0
    while True:
        chosen = hitting_set(known, MOST_NODES) if exact else None
        exact = chosen is not None
        taken = chosen if chosen is not None else greedy_hits(known)
        least = len(taken) if exact else least
        found = _cycle_without(graph, taken)
        if not found:
            return Cut(tuple(sorted(taken)), exact, len(taken) if exact else least)
        known.append(found)


def _cycle_without(graph: nx.DiGraph[Egress], taken: Iterable[Turn]) -> frozenset[Turn]:
    left = graph.copy()
    left.remove_edges_from(taken)
    cycle = find_cycle(left)
    return frozenset(zip(cycle, [*cycle[1:], *cycle[:1]], strict=True))


def hitting_set(sets: Sequence[frozenset[Item]], most: int) -> frozenset[Item] | None:
    """Return a smallest set that contains an item of each given set; None after `most` choices.

    By branch and bound: the first set not yet hit must be hit by one of its items; disjoint sets
    not yet hit give a lower bound on the number of further items.
    """
    best = greedy_hits(sets)
    looked = 0
    waiting: list[frozenset[Item]] = [frozenset()]
    while waiting:
        looked += 1
        if looked > most:
            return None
        chosen = waiting.pop()
        missed = [one for one in sets if not one & chosen]
        if not missed:
            best = chosen if len(chosen) < len(best) else best
            continue
        if len(chosen) + _disjoint(missed) >= len(best):
            continue
        shortest = min(missed, key=len)
        counts = {item: sum(item in one for one in missed) for item in shortest}
        ordered = sorted(shortest, key=lambda item: (counts[item], str(item)))
        waiting += [chosen | {item} for item in ordered]
    return best


def greedy_hits(sets: Sequence[frozenset[Item]]) -> frozenset[Item]:
    """Return a set that hits all, chosen greedily: the item that hits most sets not yet hit."""
    chosen: set[Item] = set()
    while missed := [one for one in sets if not one & chosen]:
        counts: dict[Item, int] = defaultdict(int)
        for item in itertools.chain.from_iterable(missed):
            counts[item] += 1
        chosen.add(max(counts, key=lambda item: (counts[item], str(item))))
    return frozenset(chosen)


def _disjoint(sets: Sequence[frozenset[Item]]) -> int:
    """The number of pairwise disjoint sets among some, chosen greedily, the short ones first."""
    used: set[Item] = set()
    count = 0
    for one in sorted(sets, key=len):
        if not one & used:
            used |= one
            count += 1
    return count


# ---------------------------------------------------------------------------------------------
# The fewest links


def fewest_links(judged: Judged) -> Cut[Egress] | None:
    """Return the fewest links between switches without which the routes have no cycle.

    Without a link the routes change, so that each set of links gives another network: sets of one,
    two, ... links are tried one by one, as long as these are few; then links are removed one after
    the other, of those with most turns on cycles the one that leaves fewest. None: no set was found
    that leaves all hosts connected.
    """
    network = judged.network
    links = trunks(network)
    most = MOST_ROUTED if judged.entries else MOST_SETS
    if not judged.have_cycles([()])[0]:
        return Cut((), True, 0)
    for count in itertools.count(1):
        sets = list(itertools.islice(itertools.combinations(links, count), most + 1))
        if not sets or len(sets) > most:
            return _greedy_links(judged, count) if sets else None
        able = [one for one in sets if not network.cut_off(network.failed_links | set(one))]
        if able:
            cyclic = judged.have_cycles(able)
            found = next((o for o, bad in zip(able, cyclic, strict=True) if not bad), None)
            if found is not None:
                return Cut(_ends(network, found), True, count)
    return None


def _greedy_links(judged: Judged, least: int) -> Cut[Egress] | None:
    network = judged.network
    taken: list[int] = []
    turns = _on_cycles(judged, taken)
    while turns:
        able = [
            link for link in turns if not network.cut_off(network.failed_links | {*taken, link})
        ]
        tried = [(_on_cycles(judged, [*taken, link]), link) for link in able[:MOST_LINKS]]
        if not tried:
            return None
        turns, link = min(tried, key=lambda one: (sum(one[0].values()), one[1]))
        taken.append(link)
    return Cut(_ends(network, taken), False, least)


def _on_cycles(judged: Judged, more: Collection[int]) -> dict[int, int]:
    """The number of turns on cycles of the routes that begin on each link, most first."""
    graph = judged.graph(more)
    turns: dict[int, int] = defaultdict(int)
    for part in nx.strongly_connected_components(graph):
        for before, after in graph.subgraph(part).edges if len(part) > 1 else ():
            turns[judged.network.links[before]] += bool(after)
    return dict(sorted(turns.items(), key=lambda one: (-one[1], one[0])))


def _ends(network: Topology, links: Iterable[int]) -> tuple[Egress, ...]:
    return tuple((int(network.a[link]), int(network.b[link])) for link in sorted(links))


# ---------------------------------------------------------------------------------------------
# Routes without some turns


def entries_without(routes: Routes, turns: Collection[Turn]) -> dict[tuple[int, int], int] | None:
    """Return the next hops that keep all frames off some turns; None if there are none.

    A next hop depends on the destination alone, so that a turn is avoided by leaving out one of its
    two links for a destination. From the destination on, each switch leaves out next hops that lead
    to a turn; a switch that has to and that frames reach gets one of those left, which are shared
    among the hosts. No path is added: with shortest paths all paths stay shortest.
    """
    shut = set(turns)
    found: dict[tuple[int, int], int] = {}
    for end, hops in enumerate(routes.hops):
        left = _left(hops, routes.rack(end), shut)
        starts = set(routes.hosts) - {routes.rack(end)}
        if left is None or not all(left[start] for start in starts):
            return None
        waiting, reached = sorted(starts), set(starts)
        for node in waiting:  # grows meanwhile
            if len(left[node]) < len(hops[node]):
                for host in routes.ends[end]:
                    found[node, host] = left[node][host % len(left[node])]
            waiting += [near for near in left[node] if near not in reached]
            reached.update(left[node])
    return found


def entries_instead(judged: Judged, turns: Collection[Turn]) -> dict[tuple[int, int], int] | None:
    """Return next hops that keep all frames off some turns, also in place of [[route]] entries.

    Where those of `judged` for a host leave no other way, frames to it take shortest paths. None:
    none were found, or there would be other cycles.
    """
    found = entries_without(judged.routes(), turns)
    if found is not None or not judged.entries:
        return found
    shut, routes, network = set(turns), judged.routes(), judged.network
    bound = set[int]()
    for end, hops in enumerate(routes.hops):
        left = _left(hops, routes.rack(end), shut)
        starts = set(routes.hosts) - {routes.rack(end)}
        if left is None or not all(left[start] for start in starts):
            bound.update(routes.ends[end])
    kept = {at: near for at, near in judged.entries.items() if at[1] not in bound}
    free = Judged(network, kept).routes()
    more = entries_without(free, turns)
    if more is None:
        return None
    near_of = {host: hops for ends, hops in zip(free.ends, free.hops, strict=True) for host in ends}
    changed = {
        (node, host): near_of[host][node][host % len(near_of[host][node])]
        for node, host in judged.entries
        if host in bound and near_of[host][node]
    }
    found = {**changed, **more}
    return None if find_cycle(Judged(network, {**judged.entries, **found}).graph()) else found


def _left(
    hops: Mapping[int, Sequence[int]], rack: int, shut: Collection[Turn]
) -> dict[int, list[int]] | None:
    """The next hops from which no turn of some is reached; None if the routes have a loop."""
    left: dict[int, list[int]] = {}
    try:
        order = list(TopologicalSorter(hops).static_order())
    except CycleError:
        return None
    for node in order:  # the next hops of each come first
        left[node] = [
            near
            for near in hops[node]
            if (near == rack or left[near])
            and not any(((node, near), (near, far)) in shut for far in left[near])
        ]
    return left
