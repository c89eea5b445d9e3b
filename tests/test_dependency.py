"""Buffer dependencies against an enumeration of all shortest paths, and traffic made of them."""

from __future__ import annotations

import itertools
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pyorch.config  # noqa: F401  (registers the kinds)
from pyorch.config import topology, traffic
from pyorch.config.topology import Topology
from pyorch.dependency import (
    ShortestPaths,
    draw_paths_around_cycle,
    find_cycle,
    has_cycle,
    route_dependencies,
)
from pyorch.errors import UserError

LINK = {"rate_bps": 10**10, "delay_ps": 10**6, "failed_links": [], "failures": []}
TREE: dict[str, Any] = LINK | {"kind": "fat_tree", "k": 4}


def drawn(seed: int, count: int = 2, dependency: str = "any", k: int = 4) -> Topology:
    """A fat-tree with failed links."""
    form = TREE | {"k": k, "random_failed_links": count, "dependency": dependency}
    return topology.build(topology.draw_failed_links(form, seed))


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


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 6))
def test_dependencies_are_those_of_all_shortest_paths(seed: int, count: int) -> None:
    """Every turn of every shortest path between two edges, and no other."""
    network = drawn(seed, count) if count else topology.build(TREE)
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


def test_a_tree_without_failures_has_no_cycle() -> None:
    """Up, then down: no dependency leads back."""
    assert not has_cycle(topology.build(TREE))


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
    """One pinned flow a dependency, the same for a seed; an error where there is no cycle."""
    network = drawn(1, dependency="cyclic")
    specs = [entry("cycle", flows=1), entry("greedy", src=["h0"], dst=["h1"])]
    del specs[1]["jitter_ps"]
    flows = traffic.flows(specs, network, 7, 10**9)
    assert len(flows) == len(flows.paths) + 1
    for flow, path in flows.paths.items():
        assert (flows.src[flow], flows.dst[flow]) == (path[0], path[-1])
        assert 1000 <= flows.starts[flow] <= 1500
    again = traffic.flows(specs, network, 7, 10**9)
    assert all(np.array_equal(flows.paths[f], again.paths[f]) for f in flows.paths)
    with pytest.raises(UserError, match="no cyclic buffer dependency"):
        traffic.flows(specs, topology.build(TREE), 7, 10**9)


@pytest.mark.parametrize(("switches", "hops"), [(3, 2), (4, 2), (5, 3), (8, 7)])
def test_flows_around_a_ring(switches: int, hops: int) -> None:
    """Every host sends the way of the numbers, also where the other way round is shorter."""
    form = LINK | {"kind": "ring", "switches": switches, "hosts_per_switch": 2}
    network = topology.build(form)
    flows = traffic.flows([entry("ring", hops=hops)], network, 1, 10**9)
    assert len(flows) == len(network.hosts) == 2 * switches
    first = 2 * switches
    for host, path in flows.paths.items():
        around = [first + (host // 2 + step) % switches for step in range(hops + 1)]
        assert path.tolist() == [host, *around, 2 * ((host // 2 + hops) % switches)]
