"""Several links between two switches: each is a port of its own, with a name of its own."""

from __future__ import annotations

import itertools
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from pyorch import Study
from pyorch.base.findings import Findings
from pyorch.base.paths import Paths
from pyorch.network import topology
from pyorch.network.cycles import ShortestPaths
from pyorch.network.topology import Topology
from pyorch.remarks.layers import Layers
from pyorch.setting.dependency import describe_cycle, flow_cycle
from tests.inputs import called

ROOT = Path(__file__).resolve().parents[2]
LINKS = (("h0", "s0"), ("s0", "s1"), ("h1", "s1"), ("s1", "s0"), ("s0", "s1"))


def network_of(
    links: Any = LINKS, switches: Any = ("s0", "s1"), **more: Any
) -> tuple[Topology, str]:
    """The network of an explicit topology, and its problems."""
    findings = Findings("x.toml")
    hosts = sorted({end for link in links for end in link if end not in switches})
    table = {"kind": "explicit", "hosts": hosts, "switches": [*switches], "rate": "100Gbps"}
    table |= {"delay": "500ns", "links": [{"between": [*link]} for link in links], **more}
    found = topology.resolve(table, findings)
    network = topology.NO_NETWORK if found is None else found.network
    return network, "\n".join(one.render() for one in findings.problems)


def test_every_link_has_a_name_from_both_ends() -> None:
    """The second of three links is s1#2 at s0 and s0#2 at s1; single links have no number."""
    network, problems = network_of()
    assert not problems
    assert sorted(network.neighbours("s1")) == ["h1", "s0#1", "s0#2", "s0#3"]
    for link, (ends, numbered) in enumerate(
        zip(LINKS, ("h0:s0", "s0:s1#1", "h1:s1", "s1:s0#2", "s0:s1#3"), strict=True)
    ):
        assert ":".join(network.ends_of(link)) == numbered
        port = network.port(*numbered.split(":"))
        assert port is not None
        assert network.links[port] == network.links[network.reverse(port)] == link
        assert network.reverse(network.reverse(port)) == port
        assert network.names[network.far(port[1])] == ends[1]
    assert network.port("s0", "s1") is None
    assert network.port("s0", "s1#4") is None
    assert network.port("h0", "s0#1") is None


@pytest.mark.parametrize("name", ["s1", "s1#0", "s1#4", "s1#x"])
def test_a_name_of_none_of_several_links_is_refused(name: str) -> None:
    """With the names that there are."""
    _, problems = network_of(failed_links=[["s0", name]])
    assert f"3 links lead from s0 to s1: {name} is none of them" in problems
    assert "allowed: s1#1, s1#2, s1#3" in problems


def test_one_of_several_links_may_fail() -> None:
    """The switches stay connected as long as one is up."""
    network, _ = network_of(failed_links=[["s0", "s1#3"], ["s0", "s1#1"]])
    assert sorted(network.failed_links) == [1, 4]
    assert ShortestPaths.of(network).adjacency[0, 1]
    _, problems = network_of(failed_links=[["s0", f"s1#{n}"] for n in (1, 2, 3)])
    assert "there is no path from h0 to h1" in problems


def _spread(
    network: Topology, graph: Any, way: tuple[str, str], load: float, found: dict[Any, float]
) -> None:
    """Spread a load evenly over the links to all next switches, as their hash does."""
    at, end = way
    left = nx.shortest_path_length(graph, at, end)
    nearer = [
        (node, neighbour, switch)
        for node, neighbour in network.links
        if network.names[node] == at
        and (switch := network.names[network.far(neighbour)]) in graph
        and nx.shortest_path_length(graph, switch, end) == left - 1
    ]
    for node, neighbour, switch in nearer:
        found[node, neighbour] += load / len(nearer)
        _spread(network, graph, (switch, end), load / len(nearer), found)


def test_loads_are_those_of_all_equal_choices() -> None:
    """Against the walks of each load through random networks, link by link."""
    random = np.random.default_rng(7)
    for _ in range(20):
        switches = [f"s{n}" for n in range(5)]
        pairs = [(f"s{n}", f"s{n + 1}") for n in range(4)]
        more = random.integers(0, 5, (6, 2)).tolist()
        pairs += [(f"s{a}", f"s{b}") for a, b in more if a != b]
        network, problems = network_of([(f"h{n}", f"s{n}") for n in range(5)] + pairs, switches)
        assert not problems
        layers = Layers.of(network)
        assert layers is not None
        matrix = random.random((5, 5)) * (1 - np.eye(5))
        expected: dict[Any, float] = defaultdict(float)
        for start, end in itertools.product(range(5), repeat=2):
            way = switches[start], switches[end]
            _spread(network, nx.Graph(pairs), way, matrix[start, end], expected)
        ports = zip(*(one.tolist() for one in layers.nodes), strict=True)
        for port, load in zip(ports, layers.loads(matrix), strict=True):
            assert load == pytest.approx(expected[port])


# ---------------------------------------------------------------------------------------------
# Whole runs

BASE = """
title = "parallel"
flow_control = ["pfc"]
port.pause_response = "ideal"

[topology]
kind = "explicit"
rate = "100Gbps"
delay = "500ns"
hosts = ["h0", "h1", "h2", "h3"]
switches = [{switches}]
links = [{links}]
{topology}

[run]
duration = "{duration}"

{traffic}
"""


def done(folder: Path, text: str) -> Study:
    """A study after its runs, with results of its own."""
    folder.mkdir(exist_ok=True)
    (folder / "parallel.toml").write_text(text, encoding="utf-8")
    study = Study.load(folder / "parallel.toml", paths=Paths(ROOT, folder / "results"))
    return study.run(jobs=1, progress=False)


def text_of(
    between: str, switches: str, traffic: str, topology: str = "", duration: str = "2ms"
) -> str:
    """An experiment with two hosts on leaf0 and on leaf1."""
    hosts = " ".join(f"h{n}-leaf{n // 2}" for n in range(4))
    links = ", ".join(
        '{{ between = ["{}", "{}"] }}'.format(*link.split("-"))
        for link in f"{hosts} {between}".split()
    )
    names = ", ".join(f'"{one}"' for one in switches.split())
    return BASE.format(
        switches=names, links=links, traffic=traffic, topology=topology, duration=duration
    )


def messages(*entries: str) -> str:
    """Messages, each given by its keys."""
    listed = ",\n  ".join(f"{{ {entry} }}" for entry in entries)
    return f'[[traffic]]\nkind = "messages"\nmessages = [\n  {listed}\n]\n'


def message(path: str) -> str:
    """A message of 5 MB on a path."""
    hosts = path.split(" > ")
    return f'src = "{hosts[0]}", dst = "{hosts[-1]}", size = "5MB", path = "{path}"'


LAG = "leaf0-spine0 spine0-leaf0 leaf1-spine0 leaf1-spine0"
SPINES = "leaf0-spine0 leaf0-spine1 leaf1-spine0 leaf1-spine1"
SMALL = 'src = "h0", dst = "h2", size = "1kB", start = "{}us"'
TRACE = '[[trace]]\ntable = "flow_link"\n'


@pytest.mark.cpp
def test_two_links_to_a_spine_are_as_two_spines(tmp_path: Path) -> None:
    """Two messages, one on each, end at the same picosecond; on one link they share its rate."""
    ends = {}
    for name, between, ways in (
        ("lag", LAG, ("spine0#1 > leaf1#1", "spine0#2 > leaf1#2")),
        ("spines", SPINES, ("spine0 > leaf1", "spine1 > leaf1")),
        ("one", LAG, ("spine0#2 > leaf1#1", "spine0#2 > leaf1#2")),
    ):
        paths = [f"h{n} > leaf0 > {way} > h{n + 2}" for n, way in enumerate(ways)]
        traffic = messages(*map(message, paths))
        switches = "leaf0 leaf1 spine0" + " spine1" * (between == SPINES)
        study = done(tmp_path / name, text_of(between, switches, traffic + TRACE))
        ends[name] = study.table("flow")["finish_ps"].tolist()
        if name == "lag":
            table = study.table("flow_link")
            names = [study.nodes[peer] for peer in table["peer"] if "#" in study.nodes[peer]]
            assert sorted(set(names)) == ["leaf1#1", "leaf1#2", "spine0#1", "spine0#2"]
    assert ends["lag"] == ends["spines"]
    least = min(ends["lag"])
    assert max(ends["one"]) == pytest.approx(2 * least, rel=0.02)


@pytest.mark.cpp
def test_settings_and_routes_of_one_link(tmp_path: Path) -> None:
    """What one link loses, and what a route sends over it, leaves the other alone."""
    direct = "leaf0-leaf1 leaf1-leaf0"
    paths = ("h0 > leaf0 > leaf1#1 > h2", "h1 > leaf0 > leaf1#2 > h3")
    traffic = messages(*map(message, paths))
    lossy = '[[node]]\nnames = "leaf0:leaf1#2"\nport = { loss_rate = 0.01 }\n'
    study = done(tmp_path / "lossy", text_of(direct, "leaf0 leaf1", traffic + lossy + TRACE))
    flows, links = study.table("flow"), study.table("flow_link")
    assert flows["retransmitted_bytes"].gt(0).tolist() == [False, True]
    sent = links[links["node"] == study.nodes.index("leaf0")]
    assert [study.nodes[peer] for peer in sent["peer"]] == ["leaf1#1", "leaf1#2"]
    route = '[[route]]\nswitch = "leaf0"\ndst = "h2"\nnext = "leaf1#2"\n'
    for name, more, used in (("all", "", {"leaf1#1", "leaf1#2"}), ("route", route, {"leaf1#2"})):
        traffic = messages(*(SMALL.format(10 * n) for n in range(16)))
        study = done(tmp_path / name, text_of(direct, "leaf0 leaf1", traffic + more + TRACE))
        links = study.table("flow_link")
        sent = links[links["node"] == study.nodes.index("leaf0")]
        assert {study.nodes[peer] for peer in sent["peer"]} == used


@pytest.mark.cpp
def test_one_link_fails_while_flows_use_all(tmp_path: Path) -> None:
    """From then on all go by the others; none did so before."""
    fails = 'failures = [{ link = ["leaf1", "leaf0#2"], down = "500us", up = "1ms" }]'
    traffic = messages(*(SMALL.format(20 * n) for n in range(75)))
    text = text_of("leaf0-leaf1 leaf1-leaf0 leaf0-leaf1", "leaf0 leaf1", traffic + TRACE, fails)
    study = done(tmp_path, text)
    assert study.table("flow")["finish_ps"].gt(0).all()
    links = study.table("flow_link")
    sent = links[links["node"] == study.nodes.index("leaf0")]
    names = [study.nodes[peer] for peer in sent["peer"]]
    used: dict[int, set[str]] = {0: set(), 1: set(), 2: set()}
    for start, name in zip(sent["first_ps"].tolist(), names, strict=True):
        used[start // (500 * 10**6)].add(name)
    every = {"leaf1#1", "leaf1#2", "leaf1#3"}
    assert used == {0: every, 1: every - {"leaf1#2"}, 2: every}


NO_CYCLE = "no cyclic buffer dependency"
RING = "s0-s1 s0-s1 s1-s2 s1-s2 s2-s0 s2-s0"


@pytest.mark.cpp
@pytest.mark.parametrize("other", [1, 2])
def test_only_paths_over_the_same_links_depend_on_each_other(tmp_path: Path, other: int) -> None:
    """Three flows around a ring deadlock; with one of their hops on the second link they do not."""
    text = BASE.replace('"h3"', "").replace(', "h2", ]', ', "h2"]')
    links = " ".join(f"h{n}-s{n}" for n in range(3)) + " " + RING
    listed = ", ".join(
        '{{ between = ["{}", "{}"] }}'.format(*link.split("-")) for link in links.split()
    )
    paths = ["h0 > s0 > s1#1 > s2#1 > h2", "h1 > s1 > s2#1 > s0#1 > h0"]
    paths += [f"h2 > s2 > s0#{other} > s1#1 > h1"]
    ends = [(path.split(" > ")[0], path.split(" > ")[-1]) for path in paths]
    greedy = "".join(
        f'[[traffic]]\nkind = "greedy"\nsrc = ["{src}"]\ndst = ["{dst}"]\npath = "{path}"\n'
        for path, (src, dst) in zip(paths, ends, strict=True)
    )
    study = done(
        tmp_path,
        text.format(
            switches='"s0", "s1", "s2"', links=listed, topology="", duration="1ms", traffic=greedy
        ),
    )
    (run,) = study.runs.to_dict("records")
    assert run["deadlocked"] == (other == 1)
    setting = study.planned.specs[0].setting
    told = describe_cycle(flow_cycle(setting, 1), study.nodes)
    way = "s0:s1#1 -> s1:s2#1 -> s2:s0#1 -> s0:s1#1"
    expected = f"cyclic buffer dependency: {way}" if other == 1 else NO_CYCLE
    assert told == expected
    words = [sys.executable, "-m", "pyorch", "show", str(tmp_path / "parallel.toml")]
    shown = called(words)
    assert shown.returncode == 0, shown.stderr
    assert f"all runs: {expected}" in shown.stdout
