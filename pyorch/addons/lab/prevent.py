"""What prevents a network from deadlocking: cycles of dependencies, and what breaks them.

A dependency is a turn: the egress that a frame comes from waits for the one that it goes to
(`pyorch.network.cycles`). Without a cycle of turns there is no cyclic deadlock (Dally and Seitz,
IEEE Transactions on Computers C-36(5), 1987).
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from typing_extensions import override

from pyorch.addons.lab.cuts import (
    Cut,
    Judged,
    Turn,
    entries_instead,
    fewest_links,
    fewest_turns,
    name_of_turn,
)
from pyorch.addons.lab.drive import Cycle, Entries, Routes, refuse_bundles, route_tables
from pyorch.addons.lab.price import LostPairs, Price, of_turns, price_of
from pyorch.addons.lab.split import Split, split_of
from pyorch.addons.lab.tags import MOST_CLASSES, fewest_classes, tags_of
from pyorch.addons.lab.updown import UpDown
from pyorch.base.errors import UserError, one_of, refusal, suggest
from pyorch.base.lazy import nx
from pyorch.network import topology
from pyorch.network.cycles import Egress, ShortestPaths, route_dependencies
from pyorch.network.topology import Topology
from pyorch.notebook import Readable
from pyorch.plan import RunSpec
from pyorch.report.quantities import show
from pyorch.setting.attributes import Catalogue
from pyorch.setting.dependency import flow_cycle, ways_at_start
from pyorch.setting.tagger import has_rules, is_lossless_cycle
from pyorch.sizing.size import of_run
from pyorch.traffic import base as traffic

MOST_CYCLES = 10_000
"""Maximum number of cycles that are counted."""
SHOWN_CYCLES, SHOWN = 3, 8
"""Maximum number of cycles, and of turns or links, that are listed."""
BELOW = " " * 10
PRICE = f"{BELOW}price: "
BROKEN = "tagger:   the run's rules break them: no lossless class has a cycle"


@dataclass(frozen=True)
class Counted:
    """The turns of some routes, and their cycles: all of them or the first MOST_CYCLES."""

    turns: int
    cycles: tuple[Cycle, ...]

    @classmethod
    def of(cls, graph: nx.DiGraph[Egress]) -> Counted:
        """Count those of a graph of dependencies."""
        cycles = itertools.islice(nx.simple_cycles(graph), MOST_CYCLES)
        return cls(graph.number_of_edges(), tuple(map(tuple, cycles)))

    @property
    def count(self) -> str:
        """The number of cycles, for people."""
        return (
            f"{len(self.cycles)}" if len(self.cycles) < MOST_CYCLES else f"{MOST_CYCLES} and more"
        )

    def listed(self, network: Topology, most: int) -> Iterator[str]:
        """The shortest cycles, one in each line."""
        for cycle in sorted(self.cycles, key=lambda one: (len(one), one))[:most]:
            yield "    " + " -> ".join(names_of(network, egress) for egress in (*cycle, cycle[0]))


@dataclass(frozen=True)
class Change:
    """A change after which there is no cycle. name: its line. how: to apply it.

    by_hand: flows have to be written anew for it.
    """

    name: str
    how: str
    price: Price
    classes: int = 1
    by_hand: bool = False

    @property
    def rank(self) -> tuple[float, float, bool, int]:
        """The criterion of `cheapest`, the least first: numbers as they are printed."""
        price = self.price
        return round(price.mean, 2), -round(100 * price.throughput), self.by_hand, self.classes


@dataclass(frozen=True, repr=False)
class Prevention(Readable):
    """The findings on a network and its routes.

    judged: the routes. own: their turns and cycles. shortest: those of all shortest paths. fixed:
    those of the routes and of `flows` flows with fixed paths; None if these add nothing. turn_cut,
    link_cut: what to remove; link_cut is None if no set was found that leaves the hosts connected.
    updown: up-down routing. classes: number of lossless classes needed for tagging, with a change
    of class at each turn from down to up; no_tags: why a run cannot use them, "" if it can.
    is_broken: whether the rules of the run's own tagger break all cycles, None without a tagger.
    split: its flows divided over classes, None if they are. apart: their several lossless classes,
    if none has a cycle. headroom: what each class takes in a switch, for people.
    """

    judged: Judged
    own: Counted
    shortest: Counted
    turn_cut: Cut[Turn]
    link_cut: Cut[Egress] | None
    updown: UpDown
    classes: int
    fixed: Counted | None = None
    flows: int = 0
    no_tags: str = ""
    is_broken: bool | None = None
    split: Split | None = None
    apart: tuple[int, ...] = ()
    headroom: str = ""

    @property
    def network(self) -> Topology:
        """The network."""
        return self.judged.network

    @property
    def cycles(self) -> tuple[Cycle, ...]:
        """The cycles of the routes, all of them or the first MOST_CYCLES."""
        return self.own.cycles

    @cached_property
    def price_of_links(self) -> Price | None:
        """The price of `link_cut`; None if there is none."""
        if self.link_cut is None:
            return None
        gone = [self.network.links[link] for link in self.link_cut.items]
        return self._price(self.judged.routes(gone))

    @cached_property
    def _in_force(self) -> Routes | None:
        """The routes that prices compare with; None, all shortest paths, if some lead nowhere."""
        routes = self.judged.routes()
        return routes if price_of(routes, self.network) else None

    def _price(self, routes: Routes) -> Price | None:
        """The price of routes in place of those in force."""
        return price_of(routes, self.network, self._in_force)

    @cached_property
    def price_of_updown(self) -> Price | None:
        """The price of up-down routing."""
        return self.updown.price(self._in_force)

    @cached_property
    def lost_pairs(self) -> LostPairs:
        """The pairs of switches with hosts that `turn_cut` leaves without a shortest path."""
        return of_turns(self.network, self.turn_cut.items)

    @cached_property
    def avoiding(self) -> Entries | None:
        """Next hops, laid over those of `judged`, that avoid `turn_cut`; None: none were found."""
        return entries_instead(self.judged, self.turn_cut.items)

    @cached_property
    def price_of_avoiding(self) -> Price | None:
        """The price of the routes with `avoiding`; None if there are no such entries."""
        if self.avoiding is None:
            return None
        routes = Judged(self.network, {**self.judged.entries, **self.avoiding}).routes()
        return self._price(routes)

    @cached_property
    def changes(self) -> list[Change]:
        """The changes after which there is no cycle, with their prices, the cheapest first."""
        own = self._price(self.judged.routes())
        found = [
            ("turns", "--avoid FILE writes [[route]] entries", self.price_of_avoiding, 1),
            ("links", self._as_failed, self.price_of_links, 1),
            ("up-down", "--out FILE writes [[route]] entries", self.price_of_updown, 1),
        ]
        if not self.no_tags and self.classes <= MOST_CLASSES:
            found.append(("classes", "--tags FILE writes the rules", own, self.classes))
        if self.split and self.own.cycles:
            found.append(("split", self.split.how, own, len(self.split.parts)))
        is_mixed = self.split is not None and self.split.mixed
        changes = [
            Change(name, how, price, classes, name == "split" and is_mixed)
            for name, how, price, classes in found
            if price
        ]
        return sorted(changes, key=lambda change: change.rank)

    @override
    def lines(self) -> Iterator[str]:
        """The output of the command: cycles, what breaks them, and at which price."""
        network = self.network
        turns_of = f"{self.own.count} of dependencies, in {self.own.turns} turns of"
        if self.judged.entries:
            hops = f"{len(self.judged.entries)} next hops of [[route]] entries, else shortest paths"
            yield f"cycles:   {turns_of} the routes at the start: {hops}"
        else:
            yield f"cycles:   {turns_of} the shortest paths"
        if self.is_broken or self.apart:
            classes = ", ".join(map(str, self.apart))
            apart = f"split:    the run's flows are in classes {classes}, of which none has a cycle"
            yield apart if self.apart else BROKEN
            yield f"cheapest: {self._cheapest}"
            return
        yield from self.own.listed(network, SHOWN_CYCLES)
        if self.is_broken is False:
            yield "tagger:   the run's rules do not break them all"
        if self.judged.entries:
            count, turns = self.shortest.count, self.shortest.turns
            yield f"{BELOW}all shortest paths: {count}, in {turns} turns"
        if self.fixed:
            whose = f"with the fixed paths of {self.flows} flows, which ignore [[route]]"
            yield f"{BELOW}{whose}: {self.fixed.count}, in {self.fixed.turns} turns"
            yield from self.fixed.listed(network, 1)
        yield from self._of_turns()
        yield from self._of_links()
        all_hops = self.updown.price_of_all(self._in_force)
        share = f", {100 * all_hops.throughput:.0f} % if split evenly" if all_hops else ""
        price = self.price_of_updown
        yield f"up-down:  {price.words if price else 'no price'}{share}"
        if self.judged.entries:
            before = "the routes at the start" if self._in_force else "all shortest paths"
            yield f"prices:   compared with {before}"
        classes = "if a frame changes class where it turns up again"
        yield f"classes:  {self.classes} lossless, {classes}"
        if self.classes > 1:
            yield PRICE + self._headroom_of(self.classes)
        if self.no_tags:
            yield f"{BELOW}not for this run: {self.no_tags}"
        yield from self._of_split() if self.own.cycles else ()
        yield f"cheapest: {self._cheapest}"

    def _of_split(self) -> Iterator[str]:
        """Flows that are divided over several classes, and the price of these."""
        if self.split:
            yield f"split:    {self.split.words}: {self.split.how}"
            yield PRICE + self._headroom_of(len(self.split.parts))

    def _headroom_of(self, classes: int) -> str:
        return f"headroom for {classes} classes instead of 1{self.headroom}; all paths remain"

    def _of_turns(self) -> Iterator[str]:
        turns = [name_of_turn(self.network, turn) for turn in self.turn_cut.items]
        yield f"turns:    {_how_many(self.turn_cut)}{one_of(turns, SHOWN)}"
        if turns:
            yield PRICE + self.lost_pairs.words
            if self.price_of_avoiding is None:
                yield f"{BELOW}no [[route]] entries were found that avoid them"
            else:
                yield f"{BELOW}with [[route]] entries (--avoid): {self.price_of_avoiding.words}"
                entries = route_tables(self.network, self.avoiding or {})
                hops = (f"{e['switch']} > {e['next']} for {', '.join(e['dst'])}" for e in entries)
                yield f"{BELOW}these are {one_of(list(hops), SHOWN_CYCLES)}"

    def _of_links(self) -> Iterator[str]:
        names = self.network.names
        if self.link_cut is None:
            yield "links:    no set was found that leaves all hosts connected"
            return
        links = [f"{names[a]} - {names[b]}" for a, b in self.link_cut.items]
        yield f"links:    {_how_many(self.link_cut)}{one_of(links, SHOWN)}"
        if links and self.price_of_links:
            yield f"{PRICE}{self.price_of_links.words}"

    @property
    def _as_failed(self) -> str:
        """How to remove the links: what to add to the experiment file."""
        names = self.network.names
        links = self.link_cut.items if self.link_cut else ()
        listed = ", ".join(f'["{names[a]}", "{names[b]}"]' for a, b in links)
        return f"add {listed} to failed_links"

    @property
    def _cheapest(self) -> str:
        """The cheapest change."""
        if not self.own.cycles:
            if self.fixed and self.fixed.cycles:
                return "let flows with fixed paths follow the routes, which have no cycle"
            return "no change: the routes have no cycle"
        if self.is_broken or self.apart:
            return "no change: the run cannot deadlock in a cycle"
        if not self.changes:
            return "none of these can be applied"
        best = self.changes[0]
        return f"{best.name} ({best.how})"


def prevent(network: Topology, root: str = "", entries: Entries | None = None) -> Prevention:
    """Examine the routes of a network. root: highest switch of up-down routing.

    entries: [[route]] entries at the start; elsewhere all shortest paths over the links that are up
    then. Raises UserError if there is no such switch.
    """
    refuse_bundles(network)
    switches = [one for one in network.names if not network.is_host(one)]
    if root and root not in switches:
        what = f"there is no switch {root!r}"
        raise refusal("--root", what, one_of(switches), suggest(root, switches))
    judged = Judged(network, entries or {})
    graph = judged.graph()
    full = route_dependencies(ShortestPaths.of(network)) if entries else graph
    own = Counted.of(graph)
    return Prevention(
        judged,
        own,
        Counted.of(full) if entries else own,
        fewest_turns(graph),
        fewest_links(judged),
        UpDown.of(network, network.numbers[root] if root else None),
        fewest_classes(network, (), entries)[0],
    )


def prevent_run(spec: RunSpec, types: Catalogue, root: str = "") -> Prevention:
    """Examine the network of a run, with its [[route]] entries and the fixed paths of its flows.

    root: highest switch of up-down routing. Raises UserError if there is no such switch.
    """
    setting = spec.setting
    network = topology.build(setting.topology)
    found = prevent(network, root, ways_at_start(setting, network).diverted)
    try:
        flows = traffic.flows(setting.traffic, network, spec.seed, setting.run.duration)
    except UserError:  # such as traffic around a cycle where there is none: the run reports it
        return found
    paths = [path.tolist()[1:-1] for path in flows.paths.values()]
    graph = _with_paths(found.judged, paths)
    adds = graph.number_of_edges() > found.own.turns
    needs = of_run("the run", setting, network, types)
    classes = fewest_classes(network, paths, found.judged.entries)[0]
    found = replace(
        found,
        fixed=Counted.of(graph) if adds else None,
        flows=len(paths),
        classes=classes,
        headroom=f" (of PFC {show(needs.headroom, 'B')} for each in {needs.name})",
    )
    used = set(flows.classes.tolist())
    if has_rules(setting):
        is_broken = not is_lossless_cycle(setting, network, graph.edges, used)
        return replace(found, is_broken=is_broken, no_tags="it has some")
    lossless = sorted(cls for cls in used if needs.mask >> cls & 1)
    if len(lossless) == 1:
        split = split_of(found.judged.routes(), flows, lossless[0], needs.mask)
        found = replace(found, split=split)
    elif lossless:
        cycle = flow_cycle(setting, spec.seed)
        found = replace(found, apart=() if cycle.cycle and not cycle.is_broken else tuple(lossless))
    try:
        tags_of(spec, types)
    except UserError as error:
        return replace(found, no_tags=error.problems[0].what)
    return found


def _with_paths(judged: Judged, paths: Collection[Sequence[int]]) -> nx.DiGraph[Egress]:
    """The dependencies of routes, and of fixed paths, of switches."""
    graph = judged.graph()
    for path in paths:
        graph.add_edges_from(itertools.pairwise(itertools.pairwise(path)))
    return graph


def _how_many(cut: Cut[Any]) -> str:
    if not cut.items:
        return "none to remove"
    if cut.exact:
        return f"{len(cut.items)} must be removed, and no fewer suffice: "
    return f"{len(cut.items)} suffice (greedy; at least {cut.least}): "


def names_of(network: Topology, egress: Egress) -> str:
    """A port as in experiment files."""
    return f"{network.names[egress[0]]}:{network.names[egress[1]]}"
