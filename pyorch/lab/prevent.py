"""What prevents a network from deadlocking: cycles of dependencies, and what breaks them.

A dependency is a turn: the egress that a frame comes from waits for the one that it goes to
(`pyorch.config.cycles`). Without a cycle of turns there is no cyclic deadlock (Dally and Seitz,
IEEE Transactions on Computers C-36(5), 1987).
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from typing_extensions import override

from pyorch.config.cycles import (
    Egress,
    ShortestPaths,
    find_cycle,
    have_cycles,
    route_dependencies,
)
from pyorch.config.topology import Topology, trunks
from pyorch.errors import Problem, UserError, one_of, suggest
from pyorch.lab.price import LostPairs, Price, of_links, of_turns
from pyorch.lab.readable import Readable
from pyorch.lab.updown import UpDown

if TYPE_CHECKING:
    import networkx as nx

Turn = tuple[Egress, Egress]
MOST_CYCLES = 10_000
"""Maximum number of cycles that are counted."""
MOST_NODES = 2_000
"""Choices after which the exact search gives way to the greedy one."""
MOST_SETS = 5_000
"""Sets of links to try one by one before the greedy search takes over."""
MOST_LINKS = 10
"""Links that the greedy search tries at each step."""
SHOWN = 8
"""Maximum number of cycles, turns or links that are listed."""
PRICE = "          price: "
Item = TypeVar("Item", bound=Hashable)


@dataclass(frozen=True)
class Cut(Generic[Item]):
    """A set whose removal leaves no cycle.

    exact: there is no smaller one. Otherwise it was found by a greedy search, and `least` is a
    lower bound on the size of such a set.
    """

    items: tuple[Item, ...]
    exact: bool
    least: int


@dataclass(frozen=True, repr=False)
class Prevention(Readable):
    """The findings on a network and the shortest paths between its hosts.

    turns: number of turns on its paths. cycles: of dependencies, all of them or the first
    MOST_CYCLES. turn_cut, link_cut: what to remove; link_cut is None if no set was found that
    leaves the hosts connected. updown: up-down routing. classes: number of lossless classes needed
    for tagging, with a change of class at each turn from down to up.
    """

    network: Topology
    turns: int
    cycles: tuple[tuple[Egress, ...], ...]
    turn_cut: Cut[Turn]
    link_cut: Cut[Egress] | None
    updown: UpDown
    classes: int

    @property
    def all_counted(self) -> bool:
        """Whether `cycles` has all cycles."""
        return len(self.cycles) < MOST_CYCLES

    @cached_property
    def price_of_links(self) -> Price | None:
        """The price of `link_cut`; None if there is none."""
        return of_links(self.network, self.link_cut.items) if self.link_cut else None

    @cached_property
    def lost_pairs(self) -> LostPairs:
        """The pairs of switches with hosts that `turn_cut` leaves without a shortest path."""
        return of_turns(self.network, self.turn_cut.items)

    @override
    def lines(self) -> Iterator[str]:
        """The output of the command: cycles, what breaks them, and at which price."""
        network = self.network
        count = f"{len(self.cycles)}" if self.all_counted else f"{MOST_CYCLES} and more"
        yield f"cycles:   {count} of dependencies, in {self.turns} turns of the shortest paths"
        for cycle in sorted(self.cycles, key=lambda one: (len(one), one))[:SHOWN]:
            yield "    " + " -> ".join(names_of(network, egress) for egress in (*cycle, cycle[0]))
        turns = [
            f"{network.names[a]} > {network.names[b]} > {network.names[c]}"
            for (a, b), (_, c) in self.turn_cut.items
        ]
        yield f"turns:    {_how_many(self.turn_cut)}{one_of(turns, SHOWN)}"
        if turns:
            yield PRICE + self.lost_pairs.words
        if self.link_cut is None:
            yield "links:    no set was found that leaves all hosts connected"
        else:
            links = [f"{network.names[a]} - {network.names[b]}" for a, b in self.link_cut.items]
            yield f"links:    {_how_many(self.link_cut)}{one_of(links, SHOWN)}"
            if links and self.price_of_links:
                yield f"{PRICE}{self.price_of_links.words}"
        yield f"up-down:  {self.updown.price.words}"
        classes = "if a frame changes class where it turns up again"
        yield f"classes:  {self.classes} lossless, {classes}"
        if self.classes > 1 and self.cycles:
            yield f"{PRICE}headroom for {self.classes} classes instead of 1; all paths remain"


def prevent(network: Topology, root: str = "") -> Prevention:
    """Examine the shortest paths of a network. root: highest switch of up-down routing.

    Uses the links that are up at the start. Raises UserError if there is no such switch.
    """
    switches = [one for one in network.names if not network.is_host(one)]
    if root and root not in switches:
        what = f"there is no switch {root!r}"
        raise UserError([Problem("--root", what, one_of(switches), suggest(root, switches))])
    paths = ShortestPaths.of(network)
    graph = route_dependencies(paths)
    updown = UpDown.of(network, network.numbers[root] if root else None)
    return Prevention(
        network,
        graph.number_of_edges(),
        tuple(itertools.islice(_cycles(graph), MOST_CYCLES)),
        fewest_turns(graph),
        fewest_links(network),
        updown,
        1 + min(most_bounces(graph, order) for order in orders(network)),
    )


def _cycles(graph: nx.DiGraph[Egress]) -> Iterator[tuple[Egress, ...]]:
    import networkx as nx

    yield from map(tuple, nx.simple_cycles(graph))


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


def fewest_links(network: Topology) -> Cut[Egress] | None:
    """Return the fewest links between switches without which shortest paths have no cycle.

    Without a link the paths change, so that each set of links gives another network: sets of one,
    two, ... links are tried one by one, as long as these are few; then links are removed one after
    the other, of those with most turns on cycles the one that leaves fewest. None: no set was found
    that leaves all hosts connected.
    """
    links = trunks(network)
    gone = network.failed_links
    if not have_cycles(network, [gone])[0]:
        return Cut((), True, 0)
    for count in itertools.count(1):
        sets = list(itertools.islice(itertools.combinations(links, count), MOST_SETS + 1))
        if not sets or len(sets) > MOST_SETS:
            return _greedy_links(network, count) if sets else None
        whole = [frozenset(one) | gone for one in sets]
        able = [one for one in whole if not network.cut_off(one)]
        if able:
            cyclic = have_cycles(network, able)
            found = next((o for o, bad in zip(able, cyclic, strict=True) if not bad), None)
            if found is not None:
                return Cut(_ends(network, found - gone), True, count)
    return None


def _greedy_links(network: Topology, least: int) -> Cut[Egress] | None:
    gone = set(network.failed_links)
    taken: list[int] = []
    turns = _on_cycles(network, gone)
    while turns:
        able = [link for link in turns if not network.cut_off(frozenset(gone | {link}))]
        tried = [(_on_cycles(network, gone | {link}), link) for link in able[:MOST_LINKS]]
        if not tried:
            return None
        turns, link = min(tried, key=lambda one: (sum(one[0].values()), one[1]))
        gone.add(link)
        taken.append(link)
    return Cut(_ends(network, taken), False, least)


def _on_cycles(network: Topology, failed: Iterable[int]) -> dict[int, int]:
    """The number of turns on cycles of the shortest paths that begin on each link, most first."""
    import networkx as nx

    graph = route_dependencies(ShortestPaths.of(network, failed))
    turns: dict[int, int] = defaultdict(int)
    for part in nx.strongly_connected_components(graph):
        for before, after in graph.subgraph(part).edges if len(part) > 1 else ():
            turns[network.links[before]] += bool(after)
    return dict(sorted(turns.items(), key=lambda one: (-one[1], one[0])))


def _ends(network: Topology, links: Iterable[int]) -> tuple[Egress, ...]:
    return tuple((int(network.a[link]), int(network.b[link])) for link in sorted(links))


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


def _how_many(cut: Cut[Any]) -> str:
    if not cut.items:
        return "none to remove"
    if cut.exact:
        return f"{len(cut.items)} must be removed, and no fewer suffice: "
    return f"{len(cut.items)} suffice (greedy; at least {cut.least}): "


def names_of(network: Topology, egress: Egress) -> str:
    """A port as in experiment files."""
    return f"{network.names[egress[0]]}:{network.names[egress[1]]}"
