"""Networks from files: the same network in every format, and plain words for what cannot be."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pyorch.base.errors import UserError
from pyorch.base.fields import decode, encode
from pyorch.base.findings import Findings
from pyorch.network import topology
from pyorch.readers.graphs import MAX_BYTES, MAX_PARTS
from pyorch.readers.plain_yaml import MAX_YAML

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
    assert encode(resolved.table)["kind"] == "explicit"
    again = topology.build(decode(type(resolved.table), encode(resolved.table)))
    assert again.names == network.names
    assert np.array_equal(again.a, network.a)


@given(st.data())
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_random_trees_come_back_as_they_are(tmp_path: Path, data: st.DataObject) -> None:
    """Leaves of a tree are its hosts, in GraphML, JSON and GML alike."""
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
    nx.write_gml(tree, tmp_path / "t.gml")  # which numbers the nodes
    named = {"name_attribute": "label"}
    for file, more in (("t.graphml", {}), ("t.json", {}), ("t.gml", named)):
        resolved, problems = _resolve({"file": file, **more}, tmp_path)
        assert not problems
        network = resolved.network
        assert {network.names[host] for host in network.hosts} == leaves
        pairs = zip(network.a.tolist(), network.b.tolist(), strict=True)
        ends = {frozenset((network.names[a], network.names[b])) for a, b in pairs}
        assert ends == {frozenset(edge) for edge in tree.edges}


def test_values_of_graphml_have_defaults_and_names_of_yed(tmp_path: Path) -> None:
    """Keys for all parts, a default that one link overrides, labels inside of shapes, a comment."""
    keys = '<key id="a" attr.name="rate"><default>40Gbps</default></key><key id="b" for="node"/>'
    label = "<data key='b'><s><NodeLabel> n{0}\n</NodeLabel></s></data>"
    nodes = "".join(f"<node id='{n}'>{label.format(n)}</node>" for n in range(3))
    links = "<edge source='0' target='2' directed='false'/><!-- slow -->"
    links += "<edge source='1' target='2' directed='false'><data key='a'>1e9bps</data></edge>"
    graph = f"<graph edgedefault='directed'>{nodes}{links}</graph>"
    text = f"<graphml>{keys}{graph}</graphml>"
    (tmp_path / "n.graphml").write_text(text, encoding="utf-8")
    resolved, problems = _resolve({"file": "n.graphml", "name_attribute": "label"}, tmp_path)
    assert not problems
    assert sorted(resolved.network.names) == ["n0", "n1", "n2"]
    assert sorted(resolved.network.rates.tolist()) == [10**9, 40 * 10**9]


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


def _json(nodes: Any, links: Any, **more: object) -> str:
    edges = [{"source": a, "target": b} for a, b in links]
    return json.dumps({"nodes": [{"id": node} for node in nodes], "edges": edges, **more})


def _graphml(*parts: str) -> str:
    space = 'xmlns="http://graphml.graphdrawing.org/xmlns"'
    key = '<key id="k" for="node" attr.name="k" attr.type="int"/>'
    graph = f'<graph edgedefault="undirected">{"".join(parts)}</graph>'
    return f"<graphml {space}>{key}{graph}</graphml>"


#: Words of Python's own messages, which users should not see.
PYTHON = re.compile(r"Error\b|' object |\bNone\b|\bTrue\b|\bFalse\b|NoneType|invalid literal")
WRONG = [
    ("n.csv", "a,b\nh0,s\ns,s\nh1,s", "line 3: a link leads from s to itself"),
    ("n.csv", "a,b\nh0,s\nh1,s\ns,h1", "1 of its 3 nodes are hosts"),
    ("n.csv", "a,b\nh0,s\nh1,s\nh2,t\nh3,t", "the network consists of 2 parts"),
    ("n.csv", "a,b,rate\nh0,s,10furlongs\nh1,s,", "is not a unit of a rate"),
    ("n.csv", "a,b,rate\nh0,s,0Gbps\nh1,s,", "a rate of 0"),
    ("n.csv", "x,y\nh0,s", "line 1: the columns are x, y"),
    ("n.csv", "# ours\n\na,c\nh0,s", "line 3: the columns are a, c"),
    ("n.csv", "# ours\n\na,b\n# hosts\nh0,s,7", "line 5: 3 cells in 2 columns"),
    ("n.csv", f"# ours\na,b\nh0,{'s' * 200_000}", "line 3: a cell has more than"),
    ("n.csv", '# ours\na,b\nh0,"s', "line 3: is not CSV"),
    ("n.csv", "a,b\nh0,s,7\nh1,s", "line 2: 3 cells in 2 columns"),
    ("n.csv", "a,b\nh 0,s\nh1,s", "'h 0' is not a valid node name"),
    ("n.csv", "a,b\na,b\nb,c\nc,a", "0 of its 3 nodes are hosts"),
    ("n.csv", "", "no line with the names of the columns"),
    ("n.json", "{", "line 1, column 2"),
    ("n.json", "[" * 100_000, "nested more than"),
    ("n.json", '{"nodes": [], "nodes": []}', "the key 'nodes' is given twice"),
    ("n.json", "[1, 2]", "is not node-link JSON"),
    ("n.json", '{"TABLE": 1, "other": 2}', "but a table of TABLE, other"),
    ("n.json", "7", "is not node-link JSON"),
    ("n.json", '{"nodes": 7, "edges": []}', "is not node-link JSON"),
    ("n.json", '{"nodes": [], "edges": {}}', "is not node-link JSON"),
    ("n.json", _json(["a", "b"], [("a", "b")], directed=True), "it is a directed graph"),
    ("n.json", _json([None], []), "nodes[0]: it is not a node with an id"),
    ("n.json", _json([True], []), "nodes[0]: it is not a node with an id"),
    ("n.json", '{"nodes": [7], "edges": []}', "nodes[0]: it is not a node with an id"),
    ("n.json", _json(["a", "a"], []), "nodes[1]: a second node has the id 'a'"),
    ("n.json", '{"nodes": [{"id": 1}], "edges": [{"source": 1}]}', "edges[0]: it is not a link"),
    ("n.json", '{"nodes": [{"id": 1}], "links": [7]}', "links[0]: it is not a link"),
    ("n.graphml", "<graphml>", "is not GraphML"),
    ("n.graphml", "nothing", "is not GraphML"),
    ("n.graphml", "<graphml/>", "is not GraphML"),
    ("n.graphml", _graphml("<node/>"), "node 1: it is not a node with an id"),
    ("n.graphml", _graphml('<node id="a"/>' * 2), "node 2: a second node has the id 'a'"),
    ("n.graphml", _graphml('<node id="h0"/><edge source="h0"/>'), "edge 1: it is not a link with"),
    ("n.graphml", _graphml("<hyperedge/>"), "it has hyperedges"),
    ("n.graphml", _graphml("", '</graph><graph edgedefault="undirected">'), "it has 2 graphs"),
    ("n.graphml", _graphml('<node id="a"/>').replace('attr.type="int"', ""), "0 of its 1 nodes"),
    ("n.graphml", _graphml('<node id="a"><data key="l">x</data></node>'), "there is no key 'l'"),
    ("n.gml", "", "is not GML: it has no graphs"),
    ("n.gml", "graph 7", "is not GML: its graph is not in brackets"),
    ("n.gml", "graph [ ] graph [ ]", "is not GML: it has 2 graphs"),
    ("n.gml", "graph [\n node [ id 0 ]", "it ends before a ]"),
    ("n.gml", "graph [ ] node", "it ends without a value"),
    ("n.gml", "graph [\n node [ id ] ]", "line 2: ']' in place of the value of 'id'"),
    ("n.gml", "graph [\n 7 [ id 0 ] ]", "line 2: '7' in place of a key"),
    ("n.gml", 'graph [ node [ id 0 label "a ] ]', "'\"' in place of the value of 'label'"),
    ("n.gml", "graph [ " * 40, "nested more than 32 deep"),
    ("n.gml", "graph [ directed 1 ]", "it is a directed graph"),
    ("n.gml", "graph [ node 0 ]", "node 1: it is not a node with an id"),
    ("n.gml", "graph [ node [ id 0 id 1 ] ]", "node 1: it is not a node with an id"),
    ("n.gml", "graph [ node [ id 0 ] edge [ source 0 target 7 ] ]", "there is no node '7'"),
    ("n.yml", "topology: [", "is not YAML"),
    ("n.yml", "a: !!timestamp 2020-13-45", "line 1: is not YAML: could not determine a construct"),
    ("n.yml", "a: 1\nb: !!int x", "line 2: is not YAML: the value looks like a number or a truth"),
    ("n.yml", "a: &a [*a]", "for themselves"),
    ("n.yml", "a: !!bool x", "line 1: is not YAML"),
    ("n.yml", "a: !!timestamp x", "line 1: is not YAML"),
    ("n.yml", f"a:\n  - 0x{'F' * 5000}", "a.0: the number is out of range"),
    ("n.yml", "a: " + "[" * 100_000, "are nested more than 32 deep"),
    ("n.yml", "topology: {nodes: {a: , no: }, links: []}", "node 2: its name is a truth value"),
    ("n.yml", "topology: {nodes: {a: , b: }, links: [null]}", "links[0]: it is not a link"),
    ("n.yml", "a: 1", "is not a containerlab file"),
    (
        "n.yml",
        'topology: {nodes: {s: {}, h: {}}, links: [{endpoints: ["s:1", "host:eth1"]}]}',
        "'host' is outside the topology",
    ),
    (
        "n.yml",
        'topology: {nodes: {s: {}, h: {}}, links: [{endpoints: ["s:1"]}]}',
        "is not a link between two nodes",
    ),
    ("n.dat", "", "does not follow from its name"),
]


def test_names_of_an_attribute_are_told_apart_from_ids(tmp_path: Path) -> None:
    """Only attributes that every node has are offered, and no attribute that is chosen already."""
    nodes = [{"id": "a", "label": "x y", "nick": "n1"}, {"id": "b", "nick": "n2"}]
    links = [{"source": "a", "target": "b"}]
    (tmp_path / "n.json").write_text(json.dumps({"nodes": nodes, "links": links}))
    _, problems = _resolve({"file": "n.json", "name_attribute": "label"}, tmp_path)
    (missing,) = [one for one in problems if "no attribute 'label'" in one]
    assert "an attribute that every node has: nick" in missing
    assert "did you mean 'label'" not in missing
    (invalid,) = [one for one in problems if "is not a valid node name" in one]
    assert "name_attribute" not in invalid


@pytest.mark.parametrize(("name", "text", "said"), WRONG, ids=[said for *_, said in WRONG])
def test_what_cannot_be_is_told_in_plain_words(
    name: str, text: str, said: str, tmp_path: Path
) -> None:
    """With the file, and the place in it."""
    (tmp_path / name).write_text(text, encoding="utf-8")
    resolved, problems = _resolve({"file": name}, tmp_path)
    assert resolved is None
    assert any(said in problem for problem in problems), problems
    assert len(problems) < 6
    assert not PYTHON.search("".join(problems)), problems


@pytest.mark.parametrize("kind", ["json", "graphml", "yml"])
@given(st.integers(0, 5), st.booleans(), st.text("abcdefgh", min_size=1, max_size=5))
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_link_to_no_node_is_refused_by_its_name(
    kind: str, tmp_path: Path, number: int, second: bool, letters: str
) -> None:
    """With the names there are: whichever link it is and whichever of its ends."""
    names = ["host0", "host1", "leaf0", "leaf1", "spine0", "spine1"]
    links = [("host0", "leaf0"), ("host1", "leaf1")]
    links += [(leaf, spine) for leaf in names[2:4] for spine in names[4:]]
    wrong = f"{links[number][second]}{letters}"
    links[number] = (links[number][0], wrong) if second else (wrong, links[number][1])
    if kind == "json":
        text = _json(names, links)
    elif kind == "graphml":
        nodes = (f'<node id="{name}"/>' for name in names)
        text = _graphml(*nodes, *(f'<edge source="{a}" target="{b}"/>' for a, b in links))
    else:
        ends = ", ".join(f'{{endpoints: ["{a}:e", "{b}:e"]}}' for a, b in links)
        text = (
            f"topology: {{nodes: {{{', '.join(f'{name}: ' for name in names)}}}, links: [{ends}]}}"
        )
    (tmp_path / f"n.{kind}").write_text(text, encoding="utf-8")
    resolved, problems = _resolve({"file": f"n.{kind}"}, tmp_path)
    assert resolved is None
    assert len(problems) == 1
    place = f"edge {number + 1}" if kind == "graphml" else f"s[{number}]"
    assert place in problems[0]
    assert f"there is no node {wrong!r}" in problems[0]
    assert f"allowed: {', '.join(names)}" in problems[0]
    assert re.search(r"hint: did you mean '(host|leaf|spine)[01]'\?", problems[0])


@given(st.data())
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.slow
def test_no_content_ends_in_a_traceback(tmp_path: Path, data: st.DataObject) -> None:
    """Neither random values where nodes and links are expected, nor damaged files."""
    kind = data.draw(st.sampled_from(["json", "graphml", "yml", "csv"]))
    name = _write(kind, tmp_path)
    if kind in ("json", "yml") and data.draw(st.booleans()):
        plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)
        keys = st.sampled_from(["id", "source", "target", "endpoints", "node", "labels", "rate"])
        value = st.recursive(
            plain,
            lambda part: st.lists(part, max_size=3) | st.dictionaries(keys, part),
            max_leaves=8,
        )
        some = value | st.lists(value, max_size=3)
        table = {"nodes": data.draw(some), "links": data.draw(some)}
        content = json.dumps(table if kind == "json" else {"topology": table}).encode()
    else:
        content = (tmp_path / name).read_bytes()
        start = data.draw(st.integers(0, len(content)))
        end = data.draw(st.integers(start, min(start + 20, len(content))))
        content = content[:start] + data.draw(st.binary(max_size=6)) + content[end:]
    (tmp_path / name).write_bytes(content)
    resolved, problems = _resolve({"file": name}, tmp_path)
    assert (resolved is None) == bool(problems)
    assert not re.search(r"\b[A-Z][a-z]+Error\b|object is not|has no attribute '_", str(problems))


def test_files_with_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    """As spreadsheets and editors save them."""
    for kind in ("graphml", "json", "csv", "yml"):
        file = tmp_path / _write(kind, tmp_path)
        file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
        resolved, problems = _resolve({"file": file.name}, tmp_path)
        assert not problems
        assert len(resolved.network.names) == 6


def test_grids_of_networkx_take_their_names_from_an_attribute(tmp_path: Path) -> None:
    """Their ids are tuples, which JSON has as lists."""
    grid = nx.path_graph(4)
    grid = nx.relabel_nodes(grid, {node: (0, node) for node in grid})
    nx.set_node_attributes(grid, {node: f"n{node[1]}" for node in grid}, "name")
    (tmp_path / "g.json").write_text(json.dumps(nx.node_link_data(grid)), encoding="utf-8")
    resolved, problems = _resolve({"file": "g.json", "name_attribute": "name"}, tmp_path)
    assert not problems
    assert sorted(resolved.network.names) == ["n0", "n1", "n2", "n3"]


def test_directed_graphs_and_unknown_hosts_are_told(tmp_path: Path) -> None:
    """And a file that does not exist, and one that is not text."""
    nx.write_graphml(nx.MultiDiGraph([("a", "b"), ("a", "b")]), tmp_path / "d.graphml")
    _, problems = _resolve({"file": "d.graphml"}, tmp_path)
    assert "it is a directed graph" in problems[0]
    _, problems = _resolve({"file": _write("csv", tmp_path), "hosts": ["host*"]}, tmp_path)
    assert any("no node is called 'host*'" in problem for problem in problems)
    _, problems = _resolve({"file": "away.csv"}, tmp_path)
    assert "there is no file 'away.csv'" in problems[0]
    (tmp_path / "b.csv").write_bytes(b"\xff\xfea,b")
    _, problems = _resolve({"file": "b.csv"}, tmp_path)
    assert "b.csv: is UTF-16 text, not UTF-8" in problems[0]


def _doubling(line: str, levels: int = 40) -> str:
    """Lines that each name the one before twice: 2^levels values when all are written out."""
    lines = [line.format(this=n, below=n - 1) for n in range(1, levels)]
    return "\n".join(["a0: &a0 {k0: 1}", *lines, "topology: {nodes: {s: {kind: *a9}}}"])


def _timed(file: str, folder: Path) -> tuple[Any, list[str], float]:
    """A network or its problems, and the CPU time that they took [s]."""
    begin = time.process_time()
    resolved, problems = _resolve({"file": file}, folder)
    return resolved, problems, time.process_time() - begin


@pytest.mark.parametrize(
    "text",
    [
        _doubling("a{this}: &a{this} {{<<: [*a{below}, *a{below}], k{this}: 1}}"),
        _doubling("a{this}: &a{this} [*a{below}, *a{below}]"),
        # merges of a chain: the sum of 1 to 4,000
        _doubling("a{this}: &a{this} {{<<: *a{below}, k{this}: 1}}", 4000),
    ],
    ids=["merges", "aliases", "chain"],
)
@pytest.mark.slow
def test_yaml_is_counted_before_it_is_written_out(text: str, tmp_path: Path) -> None:
    """A kilobyte can stand for more values than any memory holds: it is refused as what it is."""
    (tmp_path / "n.yml").write_text(text)
    _, problems, taken = _timed("n.yml", tmp_path)
    assert "aliases and merges stand for too many values" in problems[0]
    assert taken < 6


def test_an_alias_of_a_long_text_is_never_written_out(tmp_path: Path) -> None:
    """Attributes that may say what a node is are looked at only where they are plain."""
    text = f"a: &a {'x' * 10**6}\nb: &b [{', '.join(['*a'] * 10**5)}]\n"
    text += "topology:\n  nodes: {s: , h: {kind: *b, role: host}, g: {kind: linux}}\n"
    text += '  links: [{endpoints: ["s:1", "h:1"]}, {endpoints: ["s:2", "g:1"]}]\n'
    (tmp_path / "n.yml").write_text(text)
    resolved, problems = _resolve({"file": "n.yml"}, tmp_path)
    assert resolved is not None, problems


@pytest.mark.slow
def test_a_network_has_a_bound(tmp_path: Path) -> None:
    """Of bytes before a file is parsed, and of nodes and links before anything is made of them."""
    (tmp_path / "n.yml").write_text("#" * (MAX_YAML + 1))
    (tmp_path / "n.graphml").write_text(_graphml(*['<node id="a"/>'] * (MAX_PARTS + 1)))
    (tmp_path / "n.csv").write_text("a,b\n" + "".join(f"h{n},s\n" for n in range(MAX_PARTS // 2)))
    (tmp_path / "long.csv").write_text("#" * (MAX_BYTES + 1))
    for name, said in (
        ("n.yml", "n.yml: is too large to be read (2 MB)\n    allowed: at most 2 MB"),
        ("n.graphml", "n.graphml: its network has 100,001 nodes and links"),
        ("n.csv", "n.csv: its network has 100,001 nodes and links"),
        ("long.csv", "long.csv: is too large to be read (8 MB)\n    allowed: at most 8 MB"),
    ):
        _, found, taken = _timed(name, tmp_path)
        assert found[0].startswith(said)
        assert taken < 2


@pytest.mark.slow
def test_many_wrong_parts_take_no_longer_than_they_must(tmp_path: Path) -> None:
    """40,000 nodes without a link, and links whose ends are 20,000 unknown nodes."""
    apart = {"nodes": [{"id": f"n{n}"} for n in range(40_000)], "edges": []}
    unknown = {
        "nodes": [{"id": f"n{n}"} for n in range(20_000)],
        "edges": [{"source": f"m{n}", "target": "n0"} for n in range(20_000)],
    }
    (tmp_path / "n.json").write_text(json.dumps(apart))
    _, found, taken = _timed("n.json", tmp_path)
    assert any("consists of 40000 parts" in one for one in found)
    assert taken < 4
    (tmp_path / "n.json").write_text(json.dumps(unknown))
    begin = time.process_time()
    with pytest.raises(UserError, match="there is no node 'm0'"):  # the most that is noted
        _resolve({"file": "n.json"}, tmp_path)
    assert time.process_time() - begin < 4


def test_nodes_of_containerlab_have_what_groups_and_defaults_give(tmp_path: Path) -> None:
    """Hosts by their group, switches by the default kind, whose links are several."""
    text = """
topology:
  defaults: {kind: srl}
  groups: {servers: {kind: linux}}
  kinds: {srl: {type: ixr}}
  nodes: {a: {group: servers}, b: {group: servers}, s: , t: {kind: ceos}}
  links:
    - endpoints: ["a:1", "s:1"]
    - endpoints: ["b:1", "s:2"]
    - endpoints: ["s:3", "t:1"]
"""
    (tmp_path / "n.yml").write_text(text)
    resolved, problems = _resolve({"file": "n.yml"}, tmp_path)
    assert resolved is not None, problems
    network = resolved.network
    assert [network.names[host] for host in network.hosts] == ["a", "b"]
    assert set(network.names) == {"a", "b", "s", "t"}
