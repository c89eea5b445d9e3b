"""Buffer dependencies against an enumeration of all shortest paths, and traffic made of them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyorch.base.errors import UserError
from pyorch.base.fields import encode
from pyorch.network import failing, topology
from pyorch.network.cycles import (
    ShortestPaths,
    draw_paths_around_cycle,
    find_cycle,
    has_cycle,
    have_cycles,
    route_dependencies,
)
from pyorch.network.topology import Topology
from pyorch.setting.dependency import FlowCycle, describe_cycle, flow_cycle
from pyorch.traffic import base as traffic
from tests.forms import entries_of, network_of, setting_of, topology_of

LINK = {"rate_bps": 10**10, "delay_ps": 10**6, "failed_links": [], "failures": []}
TREE: dict[str, Any] = LINK | {"kind": "fat_tree", "k": 4}


def drawn(seed: int, count: int = 2, dependency: str = "any", k: int = 4) -> Topology:
    """A fat-tree with failed links."""
    form = TREE | {"k": k, "random_failed_links": count, "dependency": dependency}
    return topology.build(failing.draw_failed_links(topology_of(form), seed))


def graph_of(network: Topology) -> nx.Graph[int]:
    """The links between switches that are up."""
    graph: nx.Graph[int] = nx.Graph()
    for link, (a, b) in enumerate(zip(network.a.tolist(), network.b.tolist(), strict=True)):
        if link not in network.failed_links and network.kinds[a] and network.kinds[b]:
            graph.add_edge(a, b)
    return graph


def turns_of(path: list[int]) -> set[tuple[tuple[int, int], tuple[int, int]]]:
    """The dependencies of one path."""
    return set(itertools.pairwise(itertools.pairwise(path)))


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.integers(0, 6))
def test_dependencies_are_those_of_all_shortest_paths(seed: int, count: int) -> None:
    """Every turn of every shortest path between two edges, and no other."""
    network = drawn(seed, count) if count else network_of(TREE)
    graph = graph_of(network)
    edges = sorted({int(rack) for rack in network.racks[network.hosts]})
    expected = {
        turn
        for src, dst in itertools.permutations(edges, 2)
        for path in nx.all_shortest_paths(graph, src, dst)
        for turn in turns_of(path)
    }
    found = route_dependencies(ShortestPaths.of(network))
    assert set(found.edges) == expected
    cycle = find_cycle(found)
    assert has_cycle(network) == bool(cycle) == (not nx.is_directed_acyclic_graph(found))
    assert all(found.has_edge(*pair) for pair in itertools.pairwise([*cycle, *cycle[:1]]))


def test_several_draws_are_judged_as_each_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if they are too many to be checked together."""
    network, random = network_of(TREE), np.random.default_rng(1)
    draws = [random.choice(len(network.a), size=4, replace=False).tolist() for _ in range(60)]
    graphs = [route_dependencies(ShortestPaths.of(network, failed)) for failed in draws]
    expected = [not nx.is_directed_acyclic_graph(graph) for graph in graphs]
    assert 0 < sum(expected) < len(draws)
    assert have_cycles(network, draws) == expected
    monkeypatch.setattr("pyorch.network.cycles.MOST_SUMS", 100_000)
    assert have_cycles(network, draws) == expected


def test_a_tree_without_failures_has_no_cycle() -> None:
    """Up, then down: no dependency leads back."""
    assert not has_cycle(network_of(TREE))


def test_draws_until_the_dependency_is_cyclic() -> None:
    """Each draw has a cycle, by chance one in nine has; the same seed draws the same."""
    assert all(has_cycle(drawn(seed, dependency="cyclic")) for seed in range(20))
    assert 5 < sum(has_cycle(drawn(seed)) for seed in range(200)) < 45
    assert drawn(3, dependency="cyclic").failures == drawn(3, dependency="cyclic").failures
    with pytest.raises(UserError, match="or leave no cyclic buffer dependency"):
        drawn(1, count=1, dependency="cyclic")


@pytest.mark.parametrize("seed", range(10))
def test_paths_around_a_cycle_close_it(seed: int) -> None:
    """They are shortest paths between hosts, and their dependencies alone are cyclic."""
    network = drawn(seed, dependency="cyclic")
    graph = graph_of(network)
    paths = draw_paths_around_cycle(network, 2, np.random.default_rng(seed))
    dependencies: nx.DiGraph[tuple[int, int]] = nx.DiGraph()
    for src, *switches, dst in paths:
        assert network.racks[src] == switches[0]
        assert network.racks[dst] == switches[-1]
        assert len(switches) - 1 == nx.shortest_path_length(graph, switches[0], switches[-1])
        assert nx.is_path(graph, switches)
        dependencies.add_edges_from(turns_of(switches))
    assert not nx.is_directed_acyclic_graph(dependencies)


def entry(kind: str, **keys: Any) -> dict[str, Any]:
    """A traffic entry in canonical form."""
    common = {"kind": kind, "class": 3, "start_ps": 1000, "window_bytes": 0, "jitter_ps": 500}
    return common | keys


def test_flows_around_a_cycle() -> None:
    """One pinned flow per dependency, the same for a seed; an error if there is no cycle."""
    network = drawn(1, dependency="cyclic")
    specs = [entry("cycle", flows=1), entry("greedy", src=["h0"], dst=["h1"])]
    del specs[1]["jitter_ps"]
    tables = entries_of(specs)
    flows = traffic.flows(tables, network, 7, 10**9)
    assert len(flows) == len(flows.paths) + 1
    for flow, path in flows.paths.items():
        assert (flows.src[flow], flows.dst[flow]) == (path[0], path[-1])
        assert 1000 <= flows.starts[flow] <= 1500
    again = traffic.flows(tables, network, 7, 10**9)
    assert all(np.array_equal(flows.paths[f], again.paths[f]) for f in flows.paths)
    with pytest.raises(UserError, match="no cyclic buffer dependency"):
        traffic.flows(tables, network_of(TREE), 7, 10**9)


@pytest.mark.parametrize(("switches", "hops"), [(3, 2), (4, 2), (5, 3), (8, 7)])
def test_flows_around_a_ring(switches: int, hops: int) -> None:
    """Every host sends in the direction of the numbers, even if the other one is shorter."""
    form = LINK | {"kind": "ring", "switches": switches, "hosts_per_switch": 2}
    network = network_of(form)
    flows = traffic.flows(entries_of([entry("ring", hops=hops)]), network, 1, 10**9)
    assert len(flows) == len(network.hosts) == 2 * switches
    first = 2 * switches
    for host, path in flows.paths.items():
        around = [first + (host // 2 + step) % switches for step in range(hops + 1)]
        assert path.tolist() == [host, *around, 2 * ((host // 2 + hops) % switches)]


def cycle_of(form: Mapping[str, Any], entries: list[dict[str, Any]], **more: Any) -> FlowCycle:
    """The verdict on a run."""
    return flow_cycle(setting_of({"topology": form, "traffic": entries, **more}), 1)


@settings(max_examples=60)
@given(st.integers(0, 10_000), st.integers(0, 6), st.integers(1, 15))
def test_cycles_of_flows_are_those_of_an_enumeration_of_their_paths(
    seed: int, count: int, shift: int
) -> None:
    """A possible cycle is one of all paths of all flows; a certain one of turns all of them make.

    Flows with a single path make all their turns for certain.
    """
    tree = topology_of(TREE | {"random_failed_links": count})
    form = encode(failing.draw_failed_links(tree, seed))
    network = network_of(form)
    names = [network.names[host] for host in network.hosts.tolist()]
    entry = {"kind": "permutation", "size_bytes": 1000, "hosts": names, "shift": shift}
    found = cycle_of(form, [entry])
    graph = graph_of(network)
    every: nx.DiGraph[Any] = nx.DiGraph()
    common: nx.DiGraph[Any] = nx.DiGraph()
    single: nx.DiGraph[Any] = nx.DiGraph()
    for src in network.hosts.tolist():
        ends = (int(network.racks[src]), int(network.racks[(src + shift) % len(names)]))
        turns = [turns_of(path) for path in nx.all_shortest_paths(graph, *ends)]
        every.add_edges_from(set.union(*turns))
        common.add_edges_from(set.intersection(*turns))
        single.add_edges_from(turns[0] if len(turns) == 1 else [])
    cyclic = [not nx.is_directed_acyclic_graph(each) for each in (every, common, single)]
    assert (found.verdict != "none") == cyclic[0]
    assert found.verdict != "certain" or cyclic[1]
    assert found.verdict == "certain" or not cyclic[2]
    closed = [*found.cycle, *found.cycle[:1]]
    assert all(every.has_edge(*pair) for pair in itertools.pairwise(closed))


def test_two_hosts_back_to_back_have_no_cycle() -> None:
    """There is no switch that could depend on another."""
    link = {"between": ["h0", "h1"], "rate_bps": 10**10, "delay_ps": 10**6}
    form = {"kind": "explicit", "hosts": ["h0", "h1"], "switches": [], "links": [link], **LINK}
    entry = {"kind": "greedy", "src": ["h0"], "dst": ["h1"]}
    assert cycle_of(form, [entry]) == FlowCycle("none")


PAIR: dict[str, Any] = LINK | {
    "kind": "line",
    "switches": 2,
    "hosts_per_switch": 2,
    "trunk_rate_bps": 10**10,
    "trunk_delay_ps": 10**6,
}
LOOP = {"switch": "s1", "dst": "h2", "next": "s0", "at_ps": 5_000_000, "until_ps": 9_000_000}
TO_H2 = {"kind": "greedy", "src": ["h0"], "dst": ["h2"]}


def test_a_route_that_leads_back_is_a_cycle_from_then_on() -> None:
    """Two switches that send the traffic of one host to each other."""
    assert cycle_of(PAIR, [TO_H2]) == FlowCycle("none")
    found = cycle_of(PAIR, [TO_H2], routes=[LOOP])
    assert found == FlowCycle("certain", 5_000_000, ((4, 5), (5, 4)))
    names = network_of(PAIR).names
    assert describe_cycle(found, names) == (
        "cyclic buffer dependency from 5us on: s0:s1 -> s1:s0 -> s0:s1"
    )
    late = LOOP | {"at_ps": 2 * 10**9, "until_ps": -1}
    assert cycle_of(PAIR, [TO_H2], routes=[late]).verdict == "none", "after the end"
    other = LOOP | {"dst": "h3"}
    assert cycle_of(PAIR, [TO_H2], routes=[other]).verdict == "none", "of another host"


def test_switches_that_learn_of_a_failure_at_different_times_loop() -> None:
    """A square: s1 knows at once that its link to s3 is gone, s0 still sends through it.

    s0 reaches s3 over s1 or s2. The flow from h1 goes by s1 -> s3; when that link fails s1 sends
    it back to s0, which may choose s1 again until it learns.
    """
    links = [["h0", "s0"], ["h1", "s1"], ["h3", "s3"]]
    links += [["s0", "s1"], ["s1", "s3"], ["s0", "s2"], ["s2", "s3"]]
    square = LINK | {
        "kind": "explicit",
        "hosts": ["h0", "h1", "h3"],
        "switches": ["s0", "s1", "s2", "s3"],
        "links": [{"between": pair, "rate_bps": 10**10, "delay_ps": 10**6} for pair in links],
        "failures": [{"link": ["s1", "s3"], "down_ps": 10**6, "up_ps": -1}],
    }
    flow = {"kind": "greedy", "src": ["h1"], "dst": ["h3"]}
    assert cycle_of(square, [flow]).verdict == "none"
    switch = "ns3::lossless::Switch"
    slow = {"nodes": ["s0"], "attributes": {switch: {"RouteDelay": "50000000ps"}}}
    found = cycle_of(square, [flow], nodes=[slow])
    assert (found.verdict, found.since_ps) == ("possible", 10**6)
    number = network_of(square).numbers
    assert set(found.cycle) == {(number["s0"], number["s1"]), (number["s1"], number["s0"])}
    every = {switch: {"RouteDelay": "50000000ps"}}
    assert cycle_of(square, [flow], attributes=every).verdict == "none", "all at once"


def test_pinned_paths_close_a_cycle_for_certain() -> None:
    """Three flows around a ring of three switches, by paths of their own."""
    ring = PAIR | {"kind": "ring", "switches": 3, "hosts_per_switch": 1}
    paths = [["h0", "s0", "s1", "s2", "h2"], ["h1", "s1", "s2", "s0", "h0"]]
    paths.append(["h2", "s2", "s0", "s1", "h1"])
    entries = [
        {"kind": "greedy", "src": [path[0]], "dst": [path[-1]], "path": path} for path in paths
    ]
    assert cycle_of(ring, entries).verdict == "certain"
    assert cycle_of(ring, entries[:2]).verdict == "none"
