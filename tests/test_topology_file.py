"""Networks from files: the same network in every format, and plain words for what cannot be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pyorch.config import topology
from pyorch.findings import Findings

#: Two leaves and two spines, each leaf with one host.
LINKS = [
    ("h0", "leaf0", "25Gbps", "500ns"),
    ("h1", "leaf1", "25Gbps", "500ns"),
    *((leaf, spine, "100Gbps", "2us") for leaf in ("leaf0", "leaf1") for spine in ("s0", "s1")),
]


def _graph() -> nx.Graph[str]:
    graph: nx.Graph[str] = nx.Graph()
    for a, b, rate, delay in LINKS:
        graph.add_edge(a, b, rate=rate, delay=delay)
    return graph


def _write(kind: str, folder: Path) -> str:
    file = folder / {"graphml": "n.graphml", "json": "n.json", "csv": "n.csv", "yml": "n.yml"}[kind]
    if kind == "graphml":
        nx.write_graphml(_graph(), file)
    elif kind == "json":
        file.write_text(json.dumps(nx.node_link_data(_graph(), edges="edges")), encoding="utf-8")
    elif kind == "csv":
        lines = ["a,b,rate,delay", "# hosts first", *(",".join(link) for link in LINKS)]
        file.write_text("\n".join(lines), encoding="utf-8")
    else:
        names = dict.fromkeys(end for link in LINKS for end in link[:2])
        lines = ["name: lab", "topology:", "  nodes:"]
        lines += [f"    {n}: {{kind: {'linux' if n[0] == 'h' else 'srl'}}}" for n in names]
        lines += ["  links:"]
        for number, (a, b, rate, delay) in enumerate(LINKS):
            labels = f"labels: {{rate: {rate}, delay: {delay}}}"
            ends = f'["{a}:eth{number}", "{b}:eth{number}"]'
            if number % 2:  # the extended form
                both = f"{{node: {a}, interface: e{number}}}, {{node: {b}, interface: e{number}}}"
                ends = f"[{both}]"
            lines += [f"    - endpoints: {ends}", f"      {labels}"]
        file.write_text("\n".join(lines), encoding="utf-8")
    return file.name


def _resolve(table: dict[str, Any], folder: Path) -> tuple[Any, list[str]]:
    findings = Findings("x.toml")
    whole = {"kind": "file", "rate": "10Gbps", "delay": "1us", **table}
    resolved = topology.resolve(whole, findings, folder=folder)
    return resolved, [problem.render() for problem in findings.problems]


@pytest.mark.parametrize("kind", ["graphml", "json", "csv", "yml"])
def test_every_format_gives_the_network_that_is_meant(kind: str, tmp_path: Path) -> None:
    """Nodes, links, rates and delays, and a canonical form that needs no file."""
    resolved, problems = _resolve({"file": _write(kind, tmp_path)}, tmp_path)
    assert not problems
    network = resolved.network
    assert [network.names[host] for host in network.hosts] == ["h0", "h1"]
    assert set(network.names) == {end for link in LINKS for end in link[:2]}
    found = {
        (frozenset((network.names[a], network.names[b])), int(rate), int(delay))
        for a, b, rate, delay in zip(
            network.a, network.b, network.rates, network.delays, strict=True
        )
    }
    wanted = {
        (frozenset((a, b)), int(rate[:-4]) * 10**9, {"500ns": 500_000, "2us": 2_000_000}[delay])
        for a, b, rate, delay in LINKS
    }
    assert found == wanted
    assert resolved.form["kind"] == "explicit"
    again = topology.build(resolved.form)
    assert again.names == network.names
    assert np.array_equal(again.a, network.a)


@given(st.data())
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_random_trees_come_back_as_they_are(tmp_path: Path, data: st.DataObject) -> None:
    """Leaves of a tree are its hosts, in GraphML and in JSON alike."""
    nodes = data.draw(st.integers(3, 12))
    tree: nx.Graph[str] = nx.Graph()
    tree.add_node("n0")
    for node in range(1, nodes):
        tree.add_edge(f"n{data.draw(st.integers(0, node - 1))}", f"n{node}")
    if nodes == 3 or max(dict(tree.degree).values()) < 2:
        return
    nx.write_graphml(tree, tmp_path / "t.graphml")
    text = json.dumps(nx.node_link_data(tree, edges="links"))
    (tmp_path / "t.json").write_text(text, encoding="utf-8")
    leaves = {name for name, degree in tree.degree if degree == 1}
    for file in ("t.graphml", "t.json"):
        resolved, problems = _resolve({"file": file}, tmp_path)
        assert not problems
        network = resolved.network
        assert {network.names[host] for host in network.hosts} == leaves
        pairs = zip(network.a.tolist(), network.b.tolist(), strict=True)
        ends = {frozenset((network.names[a], network.names[b])) for a, b in pairs}
        assert ends == {frozenset(edge) for edge in tree.edges}


def test_hosts_are_added_where_the_file_has_switches_only(tmp_path: Path) -> None:
    """On the chosen ones, with the rate and the delay of the topology."""
    lines = ["a,b", "leaf0,s0", "leaf1,s0", "leaf0,s1", "leaf1,s1"]
    (tmp_path / "n.csv").write_text("\n".join(lines), encoding="utf-8")
    table = {"file": "n.csv", "add_hosts": 2, "add_hosts_on": "leaf*"}
    resolved, problems = _resolve(table, tmp_path)
    assert not problems
    names = [resolved.network.names[host] for host in resolved.network.hosts]
    assert names == ["leaf0-h0", "leaf0-h1", "leaf1-h0", "leaf1-h1"]


def test_units_may_be_said_apart(tmp_path: Path) -> None:
    """Numbers without a unit are refused, unless the experiment says which it is."""
    lines = ["a,b,speed,delay", "h0,s,10,1us", "h1,s,2.5,"]
    (tmp_path / "n.csv").write_text("\n".join(lines), encoding="utf-8")
    table = {"file": "n.csv", "rate_attribute": "speed"}
    _, problems = _resolve(table, tmp_path)
    assert any("n.csv: line 2: speed: '10' lacks its unit" in one for one in problems)
    assert 'rate_unit = "..."' in problems[0]
    resolved, problems = _resolve({**table, "rate_unit": "Gbps"}, tmp_path)
    assert not problems
    assert resolved.network.rates.tolist() == [10 * 10**9, 25 * 10**8]


WRONG = [
    ("n.csv", "a,b\nh0,s\ns,s\nh1,s", "line 3: a link leads from s to itself"),
    ("n.csv", "a,b\nh0,s\nh1,s\ns,h1", "line 4: a second link between s and h1, after line 3"),
    ("n.csv", "a,b\nh0,s\nh1,s\nh2,t\nh3,t", "the network falls into 2 parts"),
    ("n.csv", "a,b,rate\nh0,s,10furlongs\nh1,s,", "is no unit of a rate"),
    ("n.csv", "a,b,rate\nh0,s,0Gbps\nh1,s,", "a rate of 0"),
    ("n.csv", "x,y\nh0,s", "the first line has the columns x, y"),
    ("n.csv", "a,b\nh0,s,7\nh1,s", "line 2: 3 cells in 2 columns"),
    ("n.csv", "a,b\nh 0,s\nh1,s", "'h 0' is no name of a node"),
    ("n.csv", "a,b\na,b\nb,c\nc,a", "0 of its 3 nodes are hosts"),
    ("n.csv", "", "the first line has the columns none"),
    ("n.json", "{", "line 1: is no JSON"),
    ("n.json", "[1, 2]", "is no node-link JSON"),
    ("n.json", '{"nodes": [{"id": 1}], "edges": [{"source": 1}]}', "is no node-link JSON"),
    ("n.graphml", "<graphml>", "is no GraphML"),
    ("n.graphml", "nothing", "is no GraphML"),
    ("n.yml", "topology: [", "is no YAML"),
    ("n.yml", "a: 1", "is no file of containerlab"),
    (
        "n.yml",
        'topology: {nodes: {s: {}, h: {}}, links: [{endpoints: ["s:1", "host:eth1"]}]}',
        "'host' is outside the topology",
    ),
    (
        "n.yml",
        'topology: {nodes: {s: {}, h: {}}, links: [{endpoints: ["s:1"]}]}',
        "is no link between two nodes",
    ),
    ("n.txt", "", "does not follow from its name"),
]


@pytest.mark.parametrize(("name", "text", "said"), WRONG)
def test_what_cannot_be_is_told_in_plain_words(
    name: str, text: str, said: str, tmp_path: Path
) -> None:
    """With the file, and the place in it."""
    (tmp_path / name).write_text(text, encoding="utf-8")
    resolved, problems = _resolve({"file": name}, tmp_path)
    assert resolved is None
    assert any(said in problem for problem in problems), problems
    assert len(problems) < 6


def test_directed_graphs_and_hosts_with_more_links_are_told(tmp_path: Path) -> None:
    """And a file that is not there, and one that is no text."""
    nx.write_graphml(nx.MultiDiGraph([("a", "b"), ("a", "b")]), tmp_path / "d.graphml")
    _, problems = _resolve({"file": "d.graphml"}, tmp_path)
    assert "it is a directed multigraph" in problems[0]
    _, problems = _resolve({"file": _write("csv", tmp_path), "hosts": ["h*", "s0"]}, tmp_path)
    assert any("host 's0' has 2 links" in problem for problem in problems)
    _, problems = _resolve({"file": "n.csv", "hosts": ["host*"]}, tmp_path)
    assert any("no node is called 'host*'" in problem for problem in problems)
    _, problems = _resolve({"file": "away.csv"}, tmp_path)
    assert "there is no file 'away.csv'" in problems[0]
    (tmp_path / "b.csv").write_bytes(b"\xff\xfea,b")
    _, problems = _resolve({"file": "b.csv"}, tmp_path)
    assert "is no text in UTF-8" in problems[0]
