"""Hosts with several links: which one a flow takes, and that experiments speak of the host only."""

from __future__ import annotations

import itertools
import random
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import pyorch.network  # noqa: F401  (registers the kinds)
from pyorch import Study
from pyorch.base.errors import UserError
from pyorch.base.findings import Findings
from pyorch.base.paths import Paths
from pyorch.network import topology
from pyorch.network.apart import Apart
from pyorch.network.topology import Topology
from pyorch.traffic import base as traffic
from pyorch.traffic import links

ROOT = Path(__file__).resolve().parents[2]
RACK = {
    "kind": "leaf_spine", "leaves": 4, "hosts_per_leaf": 3, "links_per_host": 2, "spines": 2,
    "rate": "100Gbps", "delay": "500ns",
}  # fmt: skip


def network_of(**table: Any) -> tuple[Topology, str]:
    """The network of a table, and its problems."""
    findings = Findings("x.toml")
    found = topology.resolve(table, findings)
    network = topology.NO_NETWORK if found is None else found.network
    return network, "\n".join(one.render() for one in findings.problems)


def explicit(hosts: int, switches: int, ends: list[tuple[str, str]], **more: Any) -> dict[str, Any]:
    """The table of a network with links between nodes."""
    return {
        "kind": "explicit", "hosts": [f"h{n}" for n in range(hosts)], "rate": "100Gbps",
        "switches": [f"s{n}" for n in range(switches)], "delay": "500ns",
        "links": [{"between": [*pair]} for pair in ends], **more,
    }  # fmt: skip


def flows_of(network: Topology, *entries: dict[str, Any]) -> traffic.Flows:
    """The flows of entries, which must be right."""
    findings = Findings("x.toml")
    scene = traffic.Scene(network, ROOT, ROOT, 10**10)
    tables = [
        traffic.resolve(entry, findings, ("traffic", str(number)), scene)
        for number, entry in enumerate(entries)
    ]
    assert not findings.problems, [one.render() for one in findings.problems]
    return traffic.flows([one for one in tables if one is not None], network, 1, 10**10)


def by_leaves(network: Topology, flows: traffic.Flows) -> list[tuple[str, str]]:
    """The switches by which flows leave and arrive."""
    ends = (network.racks[end].tolist() for end in flows.ends_on_network(network))
    return [(network.names[a], network.names[b]) for a, b in zip(*ends, strict=True)]


def test_a_host_is_on_each_leaf_of_its_group() -> None:
    """h4 is the second of the second group: on leaf2 and leaf3; leaves have three hosts each."""
    network, problems = network_of(**RACK)
    assert not problems
    assert network.neighbours("h4") == ["leaf2", "leaf3"]
    for leaf in ("leaf0", "leaf1"):
        assert sorted(network.neighbours(leaf)) == ["h0", "h1", "h2", "spine0", "spine1"]
    assert traffic.expand_hosts("leaf3:*", network) == ["h3", "h4", "h5"]
    assert network.host_rates[network.numbers["h4"]] == 200 * 10**9
    assert [*map(network.far, network.host_ends(4))] == [4, 4]
    port = network.port("h4", "leaf3")
    assert port == network.port_at(network.host_ends(4)[1])


def test_the_simulator_has_a_node_for_each_link() -> None:
    """Each with one link; ports and tables there and back, also of parallel links."""
    ends = [("h0", "s0"), ("h0", "s1"), ("h1", "s0"), ("h1", "s0"), ("s0", "s1"), ("s0", "s1")]
    network, problems = network_of(**explicit(2, 2, ends))
    assert not problems
    apart = Apart(network)
    assert apart.names == ("h0", "h1", "s0", "s1", "h0:s1", "h1:s0#2")
    degree = Counter(np.concatenate(apart.links).tolist())
    assert [degree[host] for host in np.flatnonzero(apart.kinds == 0).tolist()] == [1] * 4
    ports = {port: apart.port(*port) for port in network.links}
    assert len(set(ports.values())) == 12
    nodes, peers = (np.array(column) for column in zip(*ports.values(), strict=True))
    told = apart.told({"node": nodes.astype(np.uint32), "peer": peers.astype(np.int64)})
    assert list(zip(told["node"].tolist(), told["peer"].tolist(), strict=True)) == list(ports)
    causes = {"node": nodes[:1], "peer": peers[:1], "egress_peer": np.array([-1])}
    assert apart.told(causes)["egress_peer"].tolist() == [-1]


@pytest.mark.parametrize("seed", range(20))
def test_links_of_the_shortest_path_are_chosen(seed: int) -> None:
    """Against networkx on random networks in which hosts have one to three links; all are used."""
    draw = random.Random(seed)  # noqa: S311
    switches = [f"s{n}" for n in range(6)]
    ends = [
        *itertools.pairwise(switches),
        *(draw.sample(switches, 2) for _ in range(draw.randrange(4))),
    ]
    fabric = [(a, b) for a, b in ends]
    hosts = {f"h{n}": draw.sample(switches, draw.randint(1, 3)) for n in range(5)}
    attached = [(host, switch) for host, some in hosts.items() for switch in some]
    network, problems = network_of(**explicit(5, 6, [*attached, *fabric]))
    assert not problems
    graph = nx.Graph(fabric)
    hops = dict(nx.all_pairs_shortest_path_length(graph))
    pairs = [(a, b) for a in hosts for b in hosts if a != b]
    entry = {"kind": "messages", "messages": [
        {"src": a, "dst": b, "size": "1kB"} for a, b in pairs for _ in range(40)
    ]}  # fmt: skip
    used: dict[tuple[str, str], Counter[tuple[str, str]]] = defaultdict(Counter)
    for (a, b), leaves in zip(
        (pair for pair in pairs for _ in range(40)),
        by_leaves(network, flows_of(network, entry)),
        strict=True,
    ):
        used[a, b][leaves] += 1
    for a, b in pairs:
        ways = {(one, other): hops[one][other] for one in hosts[a] for other in hosts[b]}
        best = {way for way, length in ways.items() if length == min(ways.values())}
        assert set(used[a, b]) == best


def test_rules_choose_among_equals() -> None:
    """Across racks four pairs of links are equally near, within a rack two."""
    network, _ = network_of(**RACK)
    sent = [("h0", "h3"), ("h0", "h1")] * 4
    listed = [{"src": a, "dst": b, "size": "1kB"} for a, b in sent]
    entry = {"kind": "messages", "messages": listed}

    def chosen(rule: str, **more: Any) -> list[tuple[str, str]]:
        return by_leaves(network, flows_of(network, {**entry, "link": rule, **more}))

    assert set(chosen("first")) == {("leaf0", "leaf2"), ("leaf0", "leaf0")}
    # the n-th connection of h0: of four pairs the n-th, of two the n-th mod 2
    far = [("leaf0", "leaf2"), ("leaf0", "leaf3")] * 2
    near = [("leaf1", "leaf1")] * 4
    assert chosen("round-robin") == [way for both in zip(far, near, strict=True) for way in both]
    # messages of one connection go by one pair of links
    for rule in ("hash", "round-robin"):
        ways = chosen(rule, connection="pair")
        assert len(set(ways[::2])) == len(set(ways[1::2])) == 1
    many = {"kind": "messages", "messages": listed[:1] * 4000, "link": "hash"}
    counts = Counter(by_leaves(network, flows_of(network, many)))
    assert len(counts) == 4
    assert all(abs(count - 1000) < 5 * 30 for count in counts.values())  # 5 sigma


def test_channels_of_a_collective_go_by_their_rails() -> None:
    """Channel n by the n-th link at both ends, where that is among the shortest."""
    src, dst = np.array([0, 0, 0, 1]), np.array([3, 3, 3, 2])
    network, _ = network_of(**RACK)
    asked = links.Asked(src, dst, np.arange(4), np.array([0, 1, 2, 1]), np.array(["rail"] * 4))
    found = links.choose(asked, network)
    ends = zip(found.leaves.tolist(), found.arrives.tolist(), strict=True)
    names = [tuple(network.names[network.racks[end]] for end in pair) for pair in ends]
    assert names == [
        ("leaf0", "leaf2"), ("leaf1", "leaf3"), ("leaf0", "leaf2"), ("leaf1", "leaf1"),
    ]  # fmt: skip


def test_failed_links_and_planes_are_avoided() -> None:
    """A link that is down from the start is not chosen; planes do not reach each other."""
    network, problems = network_of(**RACK, failed_links=[["h0", "leaf1"]])
    assert not problems
    entry = {"kind": "messages", "messages": [{"src": "h0", "dst": "h1", "size": "1kB"}] * 9}
    assert set(by_leaves(network, flows_of(network, entry))) == {("leaf0", "leaf0")}
    ends = [("h0", "s0"), ("h0", "s1"), ("h1", "s0"), ("h2", "s1")]
    network, problems = network_of(**explicit(3, 2, ends))
    assert not problems  # h1 and h2 have h0 in common, which forwards nothing
    for src, dst in (("h1", "h2"), ("h3", "h2")):
        findings = Findings("x.toml")
        network, _ = network_of(**explicit(4, 3, [*ends, ("h3", "s0"), ("h3", "s2")]))
        scene = traffic.Scene(network, ROOT, ROOT, 10**10)
        one = {"src": src, "dst": dst, "size": "1B"}
        try:
            traffic.resolve({"kind": "messages", "messages": [one]}, findings, (), scene)
        except UserError as error:
            findings.merge(error.problems)
        assert f"there is no path from {src} to {dst}" in findings.problems[0].what
    network, problems = network_of(**explicit(3, 2, [*ends[:1], *ends[2:]]))
    assert "there is no path from h0 to h2" in problems


def test_hosts_may_be_linked_to_each_other() -> None:
    """The direct link is the shortest; others are reached by the switch."""
    ends = [("h0", "h1"), ("h0", "s0"), ("h1", "s0"), ("h2", "s0")]
    network, problems = network_of(**explicit(3, 1, ends))
    assert not problems
    listed = [{"src": a, "dst": b, "size": "1kB"} for a, b in (("h0", "h1"), ("h1", "h2"))]
    flows = flows_of(network, {"kind": "messages", "messages": listed})
    assert by_leaves(network, flows) == [("h1", "h0"), ("s0", "s0")]


WRONG = [
    ({"leaves": 3}, "3 leaves in groups of 2"),
    ({"hosts_per_server": 2, "hosts_per_nic": 2}, "hosts share NICs, which have one link"),
    ({"hosts_per_server": 2, "failover": True}, "h0 has several links"),
]


@pytest.mark.parametrize(("more", "said"), WRONG, ids=[said for _, said in WRONG])
def test_what_does_not_go_together_is_refused(more: dict[str, Any], said: str) -> None:
    """In plain words."""
    assert said in network_of(**{**RACK, **more})[1]


def test_servers_choose_a_host_first() -> None:
    """Inside of a server by its domain; to others by the rail, and there by one of its links."""
    table = {**RACK, "hosts_per_leaf": 2, "hosts_per_server": 2}
    table["scale_up"] = {"rate": "900Gbps", "delay": "500ns"}
    network, problems = network_of(**table)
    assert not problems
    listed = [{"src": "h0", "dst": dst, "size": "1kB"} for dst in ("h1", "h3")]
    entry = {"kind": "messages", "messages": listed, "nic": "rail"}
    flows = flows_of(network, entry)
    src, dst = flows.ends_on_network(network)
    assert src[0] == dst[0]
    assert (network.far(int(src[1])), network.far(int(dst[1]))) == (1, 3)
    assert by_leaves(network, flows)[1] in itertools.product(("leaf0", "leaf1"), ("leaf2", "leaf3"))


# ---------------------------------------------------------------------------------------------
# Runs


BASE = """
title = "t"
question = "q"
source = "own"

[run]
duration = "2ms"

[port]
pause_response = "ideal"
overhead = "0B"

[queue_pair]
retransmit = "GoBackN"
header_size = "48B"

[topology]
kind = "leaf_spine"
leaves = 2
hosts_per_leaf = 3
links_per_host = 2
spines = 1
rate = "100Gbps"
delay = "500ns"
"""
FRAME = 83_840  # ps of 1048 B


def done(folder: Path, more: str, base: str = BASE) -> Study:
    """A study after its runs, with results of its own."""
    folder.mkdir(exist_ok=True)
    (folder / "links.toml").write_text(base + more, encoding="utf-8")
    study = Study.load(folder / "links.toml", paths=Paths(ROOT, folder / "results"))
    return study.run(jobs=1, progress=False)


def messages(count: int, **more: str) -> str:
    """Messages of 1,000 packets from h0 to h1, and other keys of the entry."""
    keys = "".join(f'{key} = "{value}"\n' for key, value in more.items())
    one = '{ src = "h0", dst = "h1", size = "1MB" }'
    return f'[[traffic]]\nkind = "messages"\n{keys}messages = [{", ".join([one] * count)}]\n'


def through(packets: int) -> int:
    """When that many packets that follow each other have come through a switch [ps]."""
    return (packets + 1) * FRAME + 1_000_000


@pytest.mark.cpp
def test_two_messages_on_two_links_do_not_share(tmp_path: Path) -> None:
    """Each as if alone; by the first link they share its rate. Tables name host and link."""
    trace = '[[trace]]\ntable = "flow_link"\n[[trace]]\ntable = "queue"\nports = ["leaf1:h0"]\n'
    study = done(tmp_path / "both", messages(2, link="round-robin") + trace)
    flows, at = study.table("flow"), study.table("flow_link")
    assert flows["finish_ps"].tolist() == flows["ideal_ps"].tolist() == [through(1000)] * 2
    names = study.nodes
    assert {names[node] for node in [*flows["src"], *flows["dst"]]} == {"h0", "h1"}
    assert [names[node] for node in flows["src_link"]] == ["leaf0", "leaf1"]
    assert [names[node] for node in flows["dst_link"]] == ["leaf0", "leaf1"]
    crossed = {(names[a], names[b]) for a, b in zip(at["node"], at["peer"], strict=True)}
    assert crossed == {("h0", "leaf0"), ("leaf0", "h1"), ("h0", "leaf1"), ("leaf1", "h1")}
    one = done(tmp_path / "one", messages(2, link="first")).table("flow")
    assert one["finish_ps"].max() == through(2000)


@pytest.mark.cpp
def test_flows_move_when_a_link_fails(tmp_path: Path) -> None:
    """The whole message arrives by the other link; what was lost is sent again."""
    failure = 'failures = [{ link = ["h0", "leaf0"], down = "20us" }]\n'
    allowed = BASE.replace('"2ms"', '"2ms"\nallow_loss = true') + failure
    flows = done(tmp_path, messages(1, link="first"), allowed).table("flow")
    assert flows["retransmitted_bytes"][0] > 0
    assert through(1000) < flows["finish_ps"][0] < through(1000) + 10_000_000
    study = Study.load(tmp_path / "links.toml", paths=Paths(ROOT, tmp_path / "results"))
    assert [study.nodes[flows[end][0]] for end in ("src_link", "dst_link")] == ["leaf1", "leaf1"]


@pytest.mark.cpp
def test_paths_attributes_faults_and_routes_name_the_host(tmp_path: Path) -> None:
    """A path begins at the link to its first switch; what is set at h0 holds at all its ports."""
    path = 'path = "h0 > leaf1 > spine0 > leaf0 > h1"'
    one = f'{{ src = "h0", dst = "h1", size = "1MB", {path} }}'
    listed = f'[[traffic]]\nkind = "messages"\nmessages = [{one}]\n'
    study = done(tmp_path / "path", listed)
    flows, names = study.table("flow"), study.nodes
    assert flows["finish_ps"].tolist() == [1003 * FRAME + 2_000_000]
    assert [names[flows[end][0]] for end in ("src_link", "dst_link")] == ["leaf1", "leaf0"]
    slow = '[[fault]]\nkind = "slow_receiver"\nhost = "h1"\nrate = "50Gbps"\n'
    flows = done(tmp_path / "slow", messages(2, link="round-robin") + slow).table("flow")
    assert (flows["finish_ps"] > 2 * 1000 * FRAME).all()
    late = '[[node]]\nnames = "h1"\nhost = { latency = "1us" }\n'
    flows = done(tmp_path / "late", messages(2, link="round-robin") + late).table("flow")
    assert flows["finish_ps"].tolist() == [through(1000) + 1_000_000] * 2
    lossy = '[[node]]\nnames = "h0:leaf1"\nport = { loss_rate = 0.01 }\n'
    flows = done(tmp_path / "lossy", messages(2, link="round-robin") + lossy).table("flow")
    assert (flows["retransmitted_bytes"] > 0).tolist() == [False, True]
    route = '[[route]]\nswitch = "leaf0"\ndst = "h1"\nnext = "spine0"\n'
    trace = '[[trace]]\ntable = "flow_link"\n'
    study = done(tmp_path / "route", messages(1, link="first") + route + trace)
    assert {study.nodes[peer] for peer in study.table("flow_link")["peer"]} >= {"spine0"}
