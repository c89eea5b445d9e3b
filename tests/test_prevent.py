"""`prevent`: cycles, cuts and up-down routes, against brute force and the oracle."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyorch import pipeline
from pyorch.config import topology
from pyorch.config.cycles import ShortestPaths, has_cycle, route_dependencies
from pyorch.config.topology import Topology
from pyorch.findings import Findings
from pyorch.lab.prevent import fewest_turns, hitting_set, prevent
from pyorch.lab.updown import UpDown
from pyorch.loading.find import Document
from pyorch.paths import Paths

ROOT = Path(__file__).resolve().parents[1]


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
    assert clos.updown.stretch == (1.0, 1.0)
    assert clos.updown.throughput == pytest.approx(1.0)
    failed = [["leaf3", "spine0"], ["leaf0", "spine1"]]
    shape = {"leaves": 4, "spines": 2, "hosts_per_leaf": 2}
    bounced = prevent(_network(kind="leaf_spine", failed_links=failed, **shape))
    assert bounced.classes == 2  # one bounce (Tagger, for Clos networks)


@pytest.mark.cpp
@pytest.mark.parametrize("routed", [False, True])
def test_the_oracle_sees_a_deadlock_without_the_routes_and_none_with_them(
    routed: bool, tmp_path: Path
) -> None:
    """Every host of a ring of four sends to the opposite switch, without end.

    Without the routes frames are sprayed both ways round: a cycle of full buffers each way.
    """
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
    from pyorch.engine import LocalEngine

    assert not LocalEngine(plan.store, 1).run(plan.specs, plan.build).left
    summary = plan.store.read_summary(plan.specs[0].hash(plan.build.fingerprint))["summary"]
    assert summary["deadlocked"] == int(not routed)
    assert (summary["flow_cycle_egresses"] == 0) == routed
    assert np.isfinite(summary["delivered_bytes"])
    assert summary["delivered_bytes"] > 0
