"""`prevent`: cycles, cuts and up-down routes, against brute force and the oracle."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import tomli_w
from hypothesis import given, settings
from hypothesis import strategies as st

import pyorch
from pyorch import pipeline
from pyorch.addons.lab.commands.prevent import prevent_deadlocks
from pyorch.addons.lab.cuts import Judged, fewest_links, fewest_turns, hitting_set
from pyorch.addons.lab.prevent import prevent, prevent_run
from pyorch.addons.lab.price import LostPairs
from pyorch.addons.lab.split import split_of
from pyorch.addons.lab.tags import Tags, fewest_classes, make_tags, tags_of
from pyorch.addons.lab.updown import UpDown
from pyorch.base.errors import UserError
from pyorch.base.findings import Findings
from pyorch.base.paths import Paths
from pyorch.files.find import Document
from pyorch.network import topology
from pyorch.network.cycles import ShortestPaths, has_cycle, route_dependencies
from pyorch.network.topology import Topology
from pyorch.setting.attributes import DEFAULTS
from pyorch.setting.dependency import Ways, describe_cycle, flow_cycle
from pyorch.setting.tagger import TAGGER, is_lossless_cycle
from pyorch.traffic import base as traffic
from pyorch.traffic.base import Scene
from tests.forms import setting_of
from tests.inputs import ROOT


def _network(**table: Any) -> Topology:
    findings = Findings("x")
    resolved = topology.resolve({"rate": "40Gbps", "delay": "1us", **table}, findings)
    assert resolved is not None, findings.problems
    return resolved.network


@st.composite
def networks(draw: st.DrawFn) -> Topology:
    """A connected network of switches, each with a host."""
    count = draw(st.integers(3, 7))
    edges = {(draw(st.integers(0, node - 1)), node) for node in range(1, count)}
    pairs = list(itertools.combinations(range(count), 2))
    edges |= set(draw(st.lists(st.sampled_from(pairs), max_size=6)))
    links = [{"between": [f"s{a}", f"s{b}"]} for a, b in sorted(edges)]
    links += [{"between": [f"h{node}", f"s{node}"]} for node in range(count)]
    hosts, switches = ([f"{kind}{node}" for node in range(count)] for kind in "hs")
    return _network(kind="explicit", hosts=hosts, switches=switches, links=links)


@given(st.lists(st.frozensets(st.integers(0, 6), min_size=1), max_size=6))
def test_hitting_sets_are_the_smallest(sets: list[frozenset[int]]) -> None:
    """As all subsets in order of their size say."""
    found = hitting_set(sets, 10**6)
    assert found is not None
    assert all(one & found for one in sets)
    sizes = (
        size
        for size in range(8)
        for chosen in itertools.combinations(range(7), size)
        if all(one & set(chosen) for one in sets)
    )
    assert len(found) == next(sizes)


@given(networks())
@settings(max_examples=40, deadline=None)
def test_cuts_leave_no_cycle_and_no_smaller_one_does(network: Topology) -> None:
    """Of turns: by all smaller sets of turns. Of links: by all smaller sets of links."""
    graph = route_dependencies(ShortestPaths.of(network))
    cut = fewest_turns(graph)
    assert cut.exact
    left = graph.copy()
    left.remove_edges_from(cut.items)
    assert nx.is_directed_acyclic_graph(left)
    if 0 < len(cut.items) <= 3:
        for chosen in itertools.combinations(list(graph.edges), len(cut.items) - 1):
            less = graph.copy()
            less.remove_edges_from(chosen)
            assert not nx.is_directed_acyclic_graph(less)
    found = prevent(network)
    assert bool(found.cycles) == has_cycle(network)
    if found.link_cut is not None:
        links = [network.links[ends] for ends in found.link_cut.items]
        assert not has_cycle(network, links)
        assert not network.cut_off(frozenset(links))
        if found.link_cut.exact and links:
            trunks = topology.trunks(network)
            for some in itertools.combinations(trunks, len(links) - 1):
                assert network.cut_off(frozenset(some)) or has_cycle(network, some)


@given(networks())
@settings(max_examples=40, deadline=None)
def test_up_down_paths_join_all_and_never_go_up_after_down(network: Topology) -> None:
    """So their turns have no cycle; and none is shorter than the shortest path."""
    updown = UpDown.of(network)
    graph: nx.DiGraph[Any] = nx.DiGraph()
    shortest = ShortestPaths.of(network)
    for a, b in itertools.permutations(range(len(shortest.switches)), 2):
        (host,) = network.hosts[network.racks[network.hosts] == shortest.switches[b]]
        way = updown.path(int(shortest.switches[a]), int(host))
        assert way[-1] == shortest.switches[b]
        assert len(way) - 1 >= shortest.distance[a, b]
        hops = list(itertools.pairwise(way))
        ups = [updown.is_up(hop) for hop in hops]
        assert ups == sorted(ups, reverse=True)
        graph.add_edges_from(itertools.pairwise(hops))
    assert nx.is_directed_acyclic_graph(graph)


def test_a_ring_and_a_clos_are_as_known() -> None:
    """A ring has a cycle each way; a fat-tree has none, costs nothing and takes one class."""
    ring = prevent(_network(kind="ring", switches=5))
    assert sorted(map(len, ring.cycles)) == [5, 5]
    assert len(ring.turn_cut.items) == 2
    assert ring.link_cut is not None
    assert len(ring.link_cut.items) == 1
    assert ring.classes == 2
    clos = prevent(_network(kind="fat_tree", k=4))
    assert not clos.cycles
    assert clos.classes == 1
    for price in (clos.updown.price(), clos.updown.price_of_all()):
        assert price is not None
        assert (price.mean, price.most) == (1.0, 1.0)
        assert price.throughput == pytest.approx(1.0)
    failed = [["leaf3", "spine0"], ["leaf0", "spine1"]]
    shape = {"leaves": 4, "spines": 2, "hosts_per_leaf": 2}
    bounced = prevent(_network(kind="leaf_spine", failed_links=failed, **shape))
    assert bounced.classes == 2  # one bounce (Tagger, for Clos networks)


@settings(max_examples=40)
@given(networks())
def test_prices_of_cuts_are_those_of_an_enumeration_of_paths(network: Topology) -> None:
    """Lengths without the links, and pairs all of whose shortest paths have a turn of the cut."""
    found = prevent(network)
    graph: nx.Graph[int] = nx.Graph(zip(network.a.tolist(), network.b.tolist(), strict=True))
    graph.remove_nodes_from(network.hosts.tolist())
    pairs = list(itertools.permutations(graph, 2))
    turns = {(a, b, c) for (a, b), (_, c) in found.turn_cut.items}
    lost = sum(
        all(
            any(tuple(path[at : at + 3]) in turns for at in range(len(path)))
            for path in nx.all_shortest_paths(graph, *pair)
        )
        for pair in pairs
    )
    links = nx.line_graph(graph.to_directed())
    links.remove_edges_from([((a, b), (b, c)) for (a, b), (_, c) in links.edges if a == c])
    links.remove_edges_from(found.turn_cut.items)
    links.add_edges_from(((node, "out"), (node, near)) for node, near in graph.to_directed().edges)
    links.add_edges_from(((near, node), (node, "in")) for near, node in graph.to_directed().edges)
    parted = sum(not nx.has_path(links, (a, "out"), (b, "in")) for a, b in pairs)
    assert found.lost_pairs == LostPairs(lost - parted, parted, len(pairs))
    assert found.link_cut is not None
    cut = graph.copy()
    cut.remove_edges_from(found.link_cut.items)
    ratios = [
        nx.shortest_path_length(cut, *pair) / nx.shortest_path_length(graph, *pair)
        for pair in pairs
    ]
    assert found.price_of_links is not None
    assert found.price_of_links.mean == pytest.approx(np.mean(ratios))
    assert found.price_of_links.most == pytest.approx(max(ratios))


@dataclass
class _Hops:
    """Next hops to a switch by their definitions, and loads that a recursion passes on."""

    updown: UpDown
    near: dict[int, list[int]]
    rack: int

    def down(self, node: int) -> float:
        """Hops of a path that only goes down."""
        below = [one for one in self.near[node] if not self.updown.is_up((node, one))]
        return 0 if node == self.rack else 1 + min(map(self.down, below), default=inf)

    def whole(self, node: int) -> float:
        """Hops of a path that goes down as soon as it can."""
        above = [one for one in self.near[node] if self.updown.is_up((node, one))]
        down = self.down(node)
        return down if down < inf else 1 + min(map(self.whole, above))

    def legal(self, node: int) -> list[int]:
        """The next hops of such paths."""
        goes_down = self.down(node) < inf
        some = [one for one in self.near[node] if self.updown.is_up((node, one)) != goes_down]
        left = self.down if goes_down else self.whole
        return [one for one in some if left(one) == self.whole(node) - 1]

    def equal(self, node: int) -> list[int]:
        """Those of shortest paths."""
        away = nx.single_source_shortest_path_length(nx.Graph(self.near), self.rack)
        return [one for one in self.near[node] if away[one] == away[node] - 1]

    def send(self, node: int, part: float, hops: Any, loads: Counter[tuple[int, int]]) -> None:
        """Load the links of all paths from a node."""
        for one in hops(node) if node != self.rack else ():
            loads[node, one] += part / len(hops(node))  # type: ignore[assignment]
            self.send(one, part / len(hops(node)), hops, loads)


@settings(max_examples=40, deadline=None)
@given(networks())
@pytest.mark.slow
def test_prices_of_up_down_routing_are_those_of_its_paths(network: Topology) -> None:
    """With one next hop by the paths themselves, with all by a recursion over fractions."""
    updown = UpDown.of(network)
    switches = set(network.racks.tolist())
    near = {s: [b for a, b in network.links if a == s and b in switches] for s in switches}
    loads: dict[str, Counter[tuple[int, int]]] = defaultdict(Counter)
    ratios = []
    for host in network.hosts.tolist():
        to = _Hops(updown, near, int(network.racks[host]))
        for start in switches - {to.rack}:
            to.send(start, 1.0, to.legal, loads["all"])
            to.send(start, 1.0, to.equal, loads["ecmp"])
            way = updown.path(start, host)
            loads["one"].update(itertools.pairwise(way))
            assert to.whole(start) == len(way) - 1
            shortest = nx.shortest_path_length(nx.Graph(near), start, to.rack)
            ratios.append((len(way) - 1) / shortest)
    for price, name in ((updown.price(), "one"), (updown.price_of_all(), "all")):
        assert price is not None
        assert price.mean == pytest.approx(np.mean(ratios))
        assert price.most == pytest.approx(max(ratios))
        share = max(loads["ecmp"].values()) / max(loads[name].values())
        assert price.throughput == pytest.approx(share)


@settings(max_examples=60, deadline=None)
@given(networks())
def test_entries_that_avoid_turns_keep_shortest_paths_and_leave_no_cycle(network: Topology) -> None:
    """Followed hop by hop: each frame of each pair, whatever its switches choose."""
    found = prevent(network)
    if found.avoiding is None:
        assert found.turn_cut.items
        return
    entries = found.avoiding
    graph = nx.Graph((a, b) for a, b in network.links if not {a, b} & set(network.hosts.tolist()))
    distance = dict(nx.all_pairs_shortest_path_length(graph))
    turns: nx.DiGraph[Any] = nx.DiGraph()
    for host, start in itertools.product(network.hosts.tolist(), graph):
        rack = int(network.racks[host])
        waiting: list[tuple[int, ...]] = [(start,)]
        for path in waiting:
            if path[-1] != rack:
                free = [o for o in graph[path[-1]] if distance[o][rack] < distance[path[-1]][rack]]
                own = entries.get((path[-1], host))
                waiting += [(*path, one) for one in ([own] if own is not None else free)]
            else:
                assert len(path) - 1 == distance[start][rack]
                turns.add_edges_from(itertools.pairwise(itertools.pairwise(path)))
    assert nx.is_directed_acyclic_graph(turns)
    assert not found.cycles or entries


def _entries(network: Topology, tables: list[dict[str, Any]]) -> dict[tuple[int, int], int]:
    """What [[route]] entries say."""
    at = network.numbers
    return {(at[one["switch"]], at[dst]): at[one["next"]] for one in tables for dst in one["dst"]}


@pytest.mark.parametrize("switches", [4, 5, 6])
def test_the_routes_of_its_own_cure_are_judged_to_have_no_cycle(switches: int) -> None:
    """Of a ring, whose shortest paths have two; with an entry less there is one again."""
    network = _network(kind="ring", switches=switches)
    cured = prevent(network, entries=_entries(network, UpDown.of(network).routes()))
    assert not cured.cycles
    assert not cured.turn_cut.items
    assert len(cured.shortest.cycles) == 2
    lines = list(cured.lines())
    hops = switches * (switches - 1)
    assert f"routes at the start: {hops} next hops of [[route]] entries" in lines[0]
    assert lines[1].strip().startswith("all shortest paths: 2, in ")
    assert lines[-1] == "cheapest: no change: the routes have no cycle"


DETOURS = [
    {"switch": "s0", "dst": ["h2"], "next": "s1"},
    {"switch": "s1", "dst": ["h0"], "next": "s2"},
    {"switch": "s2", "dst": ["h1"], "next": "s0"},
]
"""Between switches that all have links to each other: around a triangle instead of across it."""


def test_prices_compare_with_the_routes_in_force() -> None:
    """Detours: three pairs go two hops, so that a link carries three flows; by up-down routing one.

    Every pair goes one hop then. Of routes that are those in force nothing is paid.
    """
    network = _network(kind="ring", switches=3)
    price = prevent(network, entries=_entries(network, DETOURS)).price_of_updown
    assert price is not None
    assert (price.mean, price.most) == (pytest.approx(0.75), 1)
    assert price.throughput == pytest.approx(3)
    own = prevent(network, entries=_entries(network, UpDown.of(network).routes()))
    assert own.price_of_updown is not None
    assert own.price_of_updown.words.startswith("paths 1.00 times as long on average, 1.00 at most")
    assert "prices:   compared with the routes at the start" in str(
        prevent(network, entries=_entries(network, DETOURS))
    )


def test_a_cycle_that_only_the_routes_have_is_found() -> None:
    """A triangle, whose shortest paths have no turn. Without a detour there is no cycle.

    Without a link of it the next detour sends frames back, so that no link helps.
    """
    triangle = _network(kind="ring", switches=3)
    assert prevent(triangle).own.turns == 0
    found = prevent(triangle, entries=_entries(triangle, DETOURS))
    assert [len(cycle) for cycle in found.cycles] == [3]
    assert (found.own.turns, found.shortest.turns) == (3, 0)
    assert (len(found.turn_cut.items), found.turn_cut.exact) == (1, True)
    assert found.link_cut is None
    at = triangle.numbers
    assert found.avoiding == {(at["s2"], at["h1"]): at["s1"]}
    assert "          these are s2 > s1 for h1\n" in str(found)
    assert str(found).splitlines()[-1].startswith("cheapest: up-down (--out FILE")
    assert found.classes == 2
    less = prevent(triangle, entries=_entries(triangle, DETOURS[1:]))
    assert not less.cycles


@st.composite
def routed(draw: st.DrawFn) -> tuple[Topology, dict[tuple[int, int], int]]:
    """A network with [[route]] entries that lead everywhere, on detours, without a loop."""
    network = draw(networks())
    racks = network.racks
    entries = {}
    for host in network.hosts.tolist():
        links = nx.Graph((a, b) for a, b in network.links if not network.is_host(network.names[a]))
        links.remove_nodes_from(network.hosts.tolist())
        tree, rack = nx.Graph(), int(racks[host])
        tree.add_node(rack)
        while len(tree) < len(links):
            edges = sorted(tuple(edge) for edge in nx.edge_boundary(links, tree))
            near, node = draw(st.sampled_from(edges))
            tree.add_edge(near, node)
            entries[node, host] = near
    return network, entries


def _paths(network: Topology, entries: dict[tuple[int, int], int]) -> dict[Any, list[int]]:
    """The switches from each switch to each host of another one, by entries alone."""
    found = {}
    for (start, host), _ in entries.items():
        path = [start]
        while path[-1] != network.racks[host]:
            path.append(entries[path[-1], host])
        found[start, host] = path
    return found


def _is_free(paths: Iterable[list[int]]) -> bool:
    """Whether the turns of paths have no cycle."""
    turns: nx.DiGraph[Any] = nx.DiGraph()
    for path in paths:
        turns.add_edges_from(itertools.pairwise(itertools.pairwise(path)))
    return bool(nx.is_directed_acyclic_graph(turns))


@settings(max_examples=60, deadline=None)
@given(routed())
def test_entries_in_place_of_given_ones_leave_no_cycle(
    given_routes: tuple[Topology, dict[tuple[int, int], int]],
) -> None:
    """Followed hop by hop; and the bounces of given routes, one by one."""
    network, entries = given_routes
    found = prevent(network, entries=entries)
    paths = _paths(network, entries)
    assert bool(found.cycles) != _is_free(paths.values())
    bounces = [
        max(
            sum(up and not before for before, up in itertools.pairwise(map(order.is_up, hops)))
            for hops in (list(itertools.pairwise(path)) for path in paths.values())
        )
        for order in (UpDown.by_tiers(network), UpDown.of(network))
    ]
    assert found.classes == 1 + min(bounces)
    assert found.classes > 1 or not found.cycles
    if found.avoiding is not None:
        assert _is_free(_paths(network, {**entries, **found.avoiding}).values())
        assert bool(found.avoiding) == bool(found.cycles)


@settings(max_examples=40, deadline=None)
@given(routed())
def test_flows_split_over_classes_have_no_cycle_in_any(
    given_routes: tuple[Topology, dict[tuple[int, int], int]],
) -> None:
    """By the paths of the pairs of each class; every pair of switches is in one class."""
    network, entries = given_routes
    ends = list(itertools.permutations(network.hosts.tolist(), 2))
    messages = [{"src": network.names[a], "dst": network.names[b], "size": "1KB"} for a, b in ends]
    findings = Findings("x")
    entry = {"kind": "messages", "class": 3, "messages": messages}
    form = traffic.resolve(entry, findings, ("traffic", "0"), Scene(network, ROOT, ROOT, 10**9))
    assert form is not None, findings.problems
    flows = traffic.flows([form], network, 1, 10**9)
    split = split_of(Judged(network, entries).routes(), flows, 3, 8)
    assert split is not None
    every = [pair for part in split.parts for pair in part]
    assert sorted(every) == sorted((int(network.racks[a]), int(network.racks[b])) for a, b in ends)
    paths = {
        (start, int(network.racks[host])): path
        for (start, host), path in _paths(network, entries).items()
    }
    for part in split.parts:
        assert _is_free([paths[pair] for pair in part])
    assert (len(split.parts) == 1) == _is_free(paths.values())
    assert split.mask == sum(8 << number for number in range(len(split.parts)))


@settings(max_examples=20, deadline=None)
@given(networks(), st.data())
def test_links_without_which_given_routes_have_no_cycle(network: Topology, data: Any) -> None:
    """Entries that use them go, too: by all smaller sets of links."""
    racks = network.racks
    entries = {}
    for _ in range(data.draw(st.integers(1, 4))):
        host = data.draw(st.sampled_from(network.hosts.tolist()))
        switch = data.draw(st.sampled_from(sorted(set(racks.tolist()) - {int(racks[host])})))
        near = [b for a, b in network.links if a == switch and network.kinds[b]]
        entries[switch, host] = data.draw(st.sampled_from(near))
    found = fewest_links(Judged(network, entries))

    def is_free(links: tuple[int, ...]) -> bool:
        kept = {at: b for at, b in entries.items() if network.links[at[0], b] not in links}
        down = frozenset(links)
        ways = Ways(network, dict.fromkeys(set(racks.tolist()), down), kept)
        turns: nx.DiGraph[Any] = nx.DiGraph()
        for host, start in itertools.product(network.hosts.tolist(), set(racks.tolist())):
            hops = {(start, one) for one in ways.next_hops(start, host)}
            seen = set(hops)
            while hops and start != racks[host]:
                before, node = hops.pop()
                for one in ways.next_hops(node, host):
                    turns.add_edge((before, node), (node, one))
                    if (node, one) not in seen:
                        seen.add((node, one))
                        hops.add((node, one))
        return bool(nx.is_directed_acyclic_graph(turns))

    links = tuple(network.links[ends] for ends in found.items) if found else ()
    assert found is None or is_free(links)
    if found is None or (found.exact and links):
        for size in range(len(links) or 3):
            for some in itertools.combinations(topology.trunks(network), size):
                assert network.cut_off(frozenset(some)) or not is_free(some)


def test_what_a_ring_of_four_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a link it is a line.

    One of six pairs is three times as far; the link in the middle carries 4 of the 12 flows each
    way, where each link carried 2. A turn each way around goes, and with both of them the only two
    paths of one of the pairs that are opposite each other.
    """
    found = prevent(_network(kind="ring", switches=4))
    price = found.price_of_links
    assert price is not None
    assert (price.mean, price.most) == (pytest.approx(8 / 6), 3)
    assert price.throughput == pytest.approx(0.5)
    text = str(found)
    assert "price: paths 1.33 times as long on average, 3.00 at most; 50 % of the" in text
    assert "price: of 12 pairs of switches with hosts, 1 keeps no path" in text
    assert LostPairs(2, 1, 12).words.endswith(", 2 keep only a longer path and 1 keeps no path")
    assert "price: headroom for 2 classes instead of 1; all paths remain" in text
    assert "no [[route]] entries were found that avoid them" in text
    assert text.splitlines()[-1] == "cheapest: classes (--tags FILE writes the rules)"
    assert repr(found) == text
    monkeypatch.setattr(type(found), "lines", lambda _: iter(["a -> b", "c & d"]))
    assert found._repr_html_() == "<pre>a -&gt; b\nc &amp; d</pre>"


def _rules(nodes: list[dict[str, Any]]) -> dict[tuple[str, str, str, int], int]:
    """What [[node]] entries of the tagger say: (switch, from, to, old class) -> new class."""
    found = {}
    for entry in nodes:
        for rule in entry["tagger"]["rules"].split(";"):
            ends, changes = rule.split(":")
            (before, after) = (side.split() for side in ends.split(">"))
            for switch, a, b in itertools.product(entry["names"], before, after):
                for change in changes.split(","):
                    old, new = map(int, change.split("="))
                    assert (switch, a, b, old) not in found
                    found[switch, a, b, old] = new
    return found


def _steps(network: Topology, tags: Tags) -> nx.DiGraph[Any]:
    """By brute force: every (link, class) and where a frame of it may go on, back included."""
    names = network.names
    links = [(names[a], names[b]) for a, b in network.links if not network.is_host(names[a])]
    links = [(a, b) for a, b in links if not network.is_host(b)]
    rules = _rules(tags.nodes)
    steps: nx.DiGraph[Any] = nx.DiGraph()
    for (a, b), (c, d) in itertools.product(links, links):
        if b == c:
            for old in range(8):
                steps.add_edge((a, b, old), (c, d, rules.get((b, a, d, old), old)))
    return steps


@given(networks(), st.sampled_from([0, 3, 4]))
@settings(max_examples=40, deadline=None)
def test_no_lossless_class_has_a_cycle_whatever_way_frames_take(
    network: Topology, first: int
) -> None:
    """Of all ways that links allow, longer ones and back included; classes never go down."""
    count, order = fewest_classes(network, [])
    tags = make_tags(network, order, range(first, first + count), 0)
    steps = _steps(network, tags)
    lossless = steps.subgraph(node for node in steps if tags.mask >> node[2] & 1)
    assert nx.is_directed_acyclic_graph(lossless)
    assert not tags.mask >> tags.lossy & 1
    assert set(tags.classes) == set(range(first, first + count))
    graph = nx.Graph(edge[:2] for edge in steps)
    for start, end in itertools.permutations(graph, 2):
        for path in nx.all_shortest_paths(graph, start, end):
            at = (*path[:2], first)
            for hop in itertools.pairwise(path[1:]):
                (at,) = (after for after in steps[at] if after[:2] == hop)
            assert at[2] in tags.classes  # no frame on a shortest path may be lost


@given(networks(), st.data())
@settings(max_examples=40, deadline=None)
def test_what_rules_break_is_what_an_enumeration_of_classes_says(
    network: Topology, data: st.DataObject
) -> None:
    """Of all turns, with all rules of a network and with some."""
    count, order = fewest_classes(network, [])
    tags = make_tags(network, order, range(3, 3 + count), 0)
    kept = replace(tags, ups=tuple(data.draw(st.lists(st.sampled_from(tags.ups), unique=True))))
    steps = _steps(network, kept)
    lossless = steps.subgraph(node for node in steps if tags.mask >> node[2] & 1)
    starts = [node for node in lossless if node[2] == 3]
    reached = lossless.subgraph(nx.multi_source_dijkstra_path_length(lossless, starts))
    nodes = [
        {"nodes": one["names"], "attributes": {TAGGER: {"Rules": one["tagger"]["rules"]}}}
        for one in kept.nodes
    ]
    mask = {DEFAULTS["buffer_policy"]: {"LosslessClasses": str(tags.mask)}}
    setting = setting_of({"agents": [TAGGER], "nodes": nodes, "attributes": mask})
    numbers = network.numbers
    turns = [
        ((numbers[a], numbers[b]), (numbers[c], numbers[d]))
        for (a, b, cls), (c, d, _) in steps.edges
        if cls == 3
    ]
    cyclic = not nx.is_directed_acyclic_graph(reached)
    assert is_lossless_cycle(setting, network, turns, [3]) == cyclic
    assert is_lossless_cycle(setting, network, turns, [tags.lossy]) is False
    assert kept != tags or not cyclic


def test_rules_that_cannot_be_are_refused() -> None:
    """Classes end at 7, and one has to be left for what turns up again too often."""
    ring = _network(kind="ring", switches=4)
    _, order = fewest_classes(ring, [])
    for classes, mask in ((range(7, 9), 0), (range(6, 8), 0x3F)):
        with pytest.raises(UserError, match="2 lossless classes are needed"):
            make_tags(ring, order, classes, mask)


@pytest.mark.cpp
def test_the_study_has_the_rules_that_are_made_for_it() -> None:
    """Those of deadlock/tagging, for its networks and the paths of its flows."""
    plan = pipeline.make_plan("deadlock/tagging")
    specs = [one for one in plan.specs if one.setting.params["variant"] == "tags"]
    assert len(specs) == 21
    for spec in specs[::3]:  # three thresholds each
        types = plan.experiment.types
        assert types is not None
        written = {
            name: entry.attributes["ns3::pfc::Tagger"]["Rules"]
            for entry in spec.setting.nodes
            for name in entry.nodes
        }
        nodes = tags_of(spec, types).nodes
        assert written == {name: one["tagger"]["rules"] for one in nodes for name in one["names"]}


@pytest.mark.cpp
def test_flows_of_several_lossless_classes_get_no_rules() -> None:
    """Each would need classes of its own."""
    changes = ["buffer.lossless_classes=24", "traffic.0.class=4"]
    plan = pipeline.make_plan("deadlock/tagging", changes)
    assert plan.experiment.types is not None
    with pytest.raises(UserError, match=r"flows are in classes \[3, 4\]"):
        tags_of(plan.specs[0], plan.experiment.types)


@pytest.mark.cpp
@pytest.mark.parametrize("cure", ["", "out", "avoid", "tags", "split"])
def test_the_oracle_sees_the_cycle_that_only_the_routes_have(
    cure: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two hosts of each switch send to the same host around the triangle: each link is overloaded.

    With any cure there is no deadlock and no flow starves, though lossy classes have no buffer.
    """
    hosts = [f"h{number}" for number in range(6)]
    sinks = hosts[4:] + hosts[:4]
    content: dict[str, Any] = {
        "title": "Detours",
        "flow_control": ["pfc"],
        "run": {"duration": "4ms", "stop_on_deadlock": True},
        "topology": {
            "kind": "ring",
            "switches": 3,
            "hosts_per_switch": 2,
            "rate": "40Gbps",
            "delay": "1us",
        },
        "port": {"queue_service": "fifo"},
        "buffer": {"threshold": "static", "xoff": "60KB", "xon": "57KB", "lossy_pool": "0B"},
        "queue_pair": {"retransmit": "none"},
        "route": [
            {"switch": "s0", "dst": ["h4", "h5"], "next": "s1"},
            {"switch": "s1", "dst": ["h0", "h1"], "next": "s2"},
            {"switch": "s2", "dst": ["h2", "h3"], "next": "s0"},
        ],
        "traffic": [{"kind": "greedy", "src": hosts, "dst": sinks}],
    }
    paths = Paths(ROOT, tmp_path)
    file = tmp_path / "detours.toml"
    file.write_text(tomli_w.dumps(content))
    if cure in ("out", "avoid", "tags"):
        assert prevent_deadlocks(str(file), **{cure: str(tmp_path / "r.toml")}) == 0
        told = capsys.readouterr().out
        assert ("in place of its [[route]] entries" in told) == (cure != "tags")
        del content["title"]
        gone: dict[str, Any] = {} if cure == "tags" else {"route": []}
        content = {"title": "Detours", "include": ["r.toml"], **content, **gone}
    found = pyorch.Study.load(file, paths=paths).prevent()
    assert found.cycles
    assert found.fixed is None
    assert found.split is not None
    assert f"split:    {found.split.words}" in str(found)
    assert "lossless classes, flows from s2 to s1 in class 4" in found.split.words
    if cure == "split":
        assert 'lossless_classes = 24, port.class_service = "dwrr"' in found.split.how
        content["buffer"]["lossless_classes"] = 24
        content["port"]["class_service"] = "dwrr"
        parts = ((3, slice(0, 4)), (4, slice(4, 6)))
        content["traffic"] = [
            {
                "kind": "greedy",
                "class": cls,
                "src": hosts[some],
                "dst": sinks[some],
            }
            for cls, some in parts
        ]
    file.write_text(tomli_w.dumps({key: value for key, value in content.items() if value != []}))
    cured = pyorch.Study.load(file, paths=paths).prevent()
    assert bool(cured.cycles) == (cure not in ("out", "avoid"))
    assert cured.apart == ((3, 4) if cure == "split" else ())
    assert bool(cured.is_broken) == (cure == "tags")
    assert ("cannot deadlock in a cycle" in str(cured)) == (cure in ("tags", "split"))
    plan = pipeline.make_plan(str(file), paths=paths)
    from pyorch.engine import LocalEngine

    assert not LocalEngine(plan.store, 1).run(plan.specs, plan.build).left
    run = plan.specs[0].hash(plan.build.fingerprint)
    assert plan.store.read_summary(run)["summary"]["deadlocked"] == int(not cure)
    delivered = plan.store.read_table(run, "flow")["delivered_bytes"]
    assert (delivered > 1_000_000).all() == bool(cure)


@pytest.mark.cpp
@pytest.mark.parametrize("cure", ["", "routes", "tags"])
def test_the_oracle_sees_a_deadlock_without_a_cure_and_none_with_it(
    cure: str, tmp_path: Path
) -> None:
    """Every host of a ring of four sends to the opposite switch, without end.

    Without a cure frames are sprayed both ways round: a cycle of full buffers each way.
    """
    routed = cure == "routes"
    network = _network(kind="ring", switches=4, hosts_per_switch=2)
    hosts = [network.names[host] for host in network.hosts]
    content: dict[str, Any] = {
        "title": "Ring",
        "flow_control": ["pfc"],
        "forwarding": "spray",
        "run": {"duration": "4ms", "stop_on_deadlock": True},
        "topology": {
            "kind": "ring",
            "switches": 4,
            "hosts_per_switch": 2,
            "rate": "40Gbps",
            "delay": "1us",
        },
        "buffer": {"threshold": "static", "xoff": "60KB", "xon": "57KB"},
        "queue_pair": {"reorder_window": 8192},
        "traffic": [
            {"kind": "greedy", "src": hosts, "dst": hosts[4:] + hosts[:4]},
        ],
    }
    if routed:
        content["route"] = list(UpDown.of(network).routes())
    paths = Paths(ROOT, tmp_path)
    document = Document("ring", tmp_path / "ring.toml", "ring", content)
    plan = pipeline.make_plan(document, paths=paths)
    if cure == "tags":
        assert plan.experiment.types is not None
        tags = tags_of(plan.specs[0], plan.experiment.types)
        assert tags.classes == (3, 4)
        content["buffer"] |= tags.content["buffer"]
        content |= {key: tags.content[key] for key in ("agents", "port", "node")}
        plan = pipeline.make_plan(replace(document, content=content), paths=paths)
        types = plan.experiment.types
        assert types is not None
        told = str(prevent_run(plan.specs[0], types))
        assert "tagger:   the run's rules break them: no lossless class has a cycle" in told
        cycle = flow_cycle(plan.specs[0].setting, 1)
        assert cycle.is_broken
        assert "dependency if ECMP chooses so, but not within lossless" in describe_cycle(
            cycle, network.names
        )
    from pyorch.engine import LocalEngine

    assert not LocalEngine(plan.store, 1).run(plan.specs, plan.build).left
    summary = plan.store.read_summary(plan.specs[0].hash(plan.build.fingerprint))["summary"]
    assert summary["deadlocked"] == int(not cure)
    assert summary["dropped_frames"] == 0
    assert (summary.get("tagger_frames_changed", 0) > 0) == (cure == "tags")
    assert (summary["flow_cycle_egresses"] == 0) == routed
    assert np.isfinite(summary["delivered_bytes"])
    assert summary["delivered_bytes"] > 0
