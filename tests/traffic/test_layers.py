"""Sums along shortest paths, and the mean rates of random traffic, of which remarks are made."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from pyorch.network.cycles import ShortestPaths
from pyorch.network.topology import Topology
from pyorch.remarks.layers import Layers
from pyorch.traffic.base import flows as flows_of
from tests.forms import entries_of, network_of


def network_of_random_links(seed: int) -> Topology:
    """A random network of 6 switches with a host each and various delays."""
    random = np.random.default_rng(seed)
    graph = nx.gnp_random_graph(6, 0.5, seed=seed)
    graph.add_edges_from(nx.path_graph(6).edges)
    links = [[f"h{n}", f"s{n}"] for n in range(6)] + [[f"s{a}", f"s{b}"] for a, b in graph.edges]
    table = {
        "kind": "explicit",
        "hosts": [f"h{n}" for n in range(6)],
        "switches": [f"s{n}" for n in range(6)],
        "links": [{"between": pair, "delay_ps": int(random.integers(1, 50))} for pair in links],
        "rate_bps": 10**10,
        "delay_ps": 10**6,
    }
    return network_of(table)


@pytest.mark.parametrize("seed", range(20))
def test_sums_along_shortest_paths(seed: int) -> None:
    """The least delay and the load of each link, by listing all paths."""
    network = network_of_random_links(seed)
    layers = Layers.of(network)
    assert layers is not None
    graph: nx.Graph[int] = nx.Graph(zip(network.a.tolist(), network.b.tolist(), strict=True))
    graph.remove_nodes_from(network.hosts.tolist())
    weights = network.delays.astype(np.float64)
    matrix = np.random.default_rng(seed).random((6, 6)) * (1 - np.eye(6))
    loads = dict.fromkeys(zip(*(end.tolist() for end in layers.nodes), strict=True), 0.0)
    least = layers.least(weights)
    nodes = ShortestPaths.of(network).switches
    for one in range(6):
        for other in range(6):
            ways = list(nx.all_shortest_paths(graph, int(nodes[one]), int(nodes[other])))
            sums = [
                sum(weights[network.links[pair]] for pair in nx.utils.pairwise(w)) for w in ways
            ]
            assert least[one, other] == pytest.approx(min(sums))
            assert layers.hops[one, other] == len(ways[0]) - 1
            for way in ways:
                splits = [{w[w.index(n) + 1] for w in ways if n in w} for n in way[:-1]]
                share = matrix[one, other] / np.prod([len(hops) for hops in splits])
                for link in nx.utils.pairwise(way):
                    loads[link] += share
    assert layers.loads(matrix) == pytest.approx(list(loads.values()))


@pytest.mark.parametrize("pattern", ["uniform", "inter-rack", "intra-rack"])
def test_mean_rates_are_those_of_the_flows_that_are_drawn(pattern: str) -> None:
    """Pair by pair, of 50,000 flows: within five standard deviations."""
    poisson = {
        "kind": "poisson",
        "workload": "w",
        "load": 0.5,
        "src": [f"h{n}" for n in range(8)],
        "dst": [f"h{n}" for n in range(5)],
        "pattern": pattern,
        "derived": {"sizes": [0, 1000], "cumulative": [0, 1], "payload": 1000, "header": 48},
    }
    if pattern == "intra-rack":
        poisson["src"] = poisson["dst"][:4]
    leaves = {"kind": "leaf_spine", "leaves": 2, "spines": 1, "hosts_per_leaf": 4}
    network = network_of({**leaves, "rate_bps": 10**10, "delay_ps": 10**6})
    (entry,) = entries_of([poisson])
    time = int(50_000 / entry.count(network, 10**9) * 10**9)
    offered = entry.offered(network, time)
    assert offered is not None
    drawn = flows_of([entry], network, 1, time)
    counts = np.zeros((8, 8))
    np.add.at(counts, (drawn.src, drawn.dst), 1)
    expected = offered.rates / offered.rates.sum() * len(drawn)
    assert np.all(np.abs(counts - expected) <= 5 * np.sqrt(expected))
    assert offered.rates.sum(axis=1).max() == pytest.approx(0.5 * 10**10)
