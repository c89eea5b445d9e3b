"""Topologies: wiring, canonical form, failures, messages."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyorch.base.errors import UserError
from pyorch.base.fields import decode, encode
from pyorch.base.findings import Findings
from pyorch.network import failing, topology
from tests.forms import topology_of
from tests.strategies import TOPOLOGIES, network


def problems(**table: Any) -> list[str]:
    """The problems of a [topology] table."""
    findings = Findings("x.toml")
    resolved = topology.resolve({"rate": "10Gbps", "delay": "1us"} | table, findings)
    assert resolved is None
    return [problem.render() for problem in findings.problems]


def canonical(**table: Any) -> topology.TopologyTable:
    """A [topology] table with all that may be left out."""
    resolved = topology.resolve({"rate": "10Gbps", "delay": "1us"} | table, Findings("x.toml"))
    assert resolved is not None
    return resolved.table


def links(drawn: topology.Topology) -> set[tuple[str, str]]:
    """Links by the names of their ends."""
    ends = zip(drawn.a.tolist(), drawn.b.tolist(), strict=True)
    return {(drawn.names[a], drawn.names[b]) for a, b in ends}


def reached(drawn: topology.Topology) -> set[str]:
    """All nodes that a walk from the first one finds."""
    ends = links(drawn)
    seen, todo = set(), [drawn.names[0]]
    while todo:
        node = todo.pop()
        seen.add(node)
        near = {b for a, b in ends if a == node} | {a for a, b in ends if b == node}
        todo += near - seen
    return seen


@given(TOPOLOGIES)
def test_every_topology_is_connected_with_each_host_on_one_link(table: dict[str, Any]) -> None:
    """A walk from the first node finds all, and a host is on one link, to a switch."""
    drawn = network(**table)
    assert reached(drawn) == set(drawn.names)
    assert drawn.cut_off() == []
    degree = np.bincount(np.concatenate([drawn.a, drawn.b]), minlength=len(drawn.names))
    assert np.all(degree[drawn.hosts] == 1)
    assert np.all(drawn.kinds[drawn.racks[drawn.hosts]] == topology.SWITCH)
    assert [drawn.names[host] for host in drawn.hosts] == [f"h{n}" for n in range(len(drawn.hosts))]


@given(TOPOLOGIES)
def test_the_canonical_form_draws_the_same_network(table: dict[str, Any]) -> None:
    """Build has the nodes, links, rates and delays of the file, in the same order."""
    resolved = topology.resolve(table | {"rate": "10Gbps", "delay": "1us"}, Findings("x"))
    assert resolved is not None
    again = topology.build(decode(type(resolved.table), encode(resolved.table)))
    assert again.names == resolved.network.names
    for array in ("kinds", "a", "b", "rates", "delays"):
        assert np.array_equal(getattr(again, array), getattr(resolved.network, array))


@pytest.mark.parametrize("k", [2, 4, 8])
def test_fat_tree_has_the_size_of_its_closed_form(k: int) -> None:
    """A k-ary fat-tree has k^3/4 hosts, 5k^2/4 switches and 3k^3/4 links."""
    drawn = network(kind="fat_tree", k=k)
    assert len(drawn.hosts) == k**3 // 4
    assert len(drawn.names) - len(drawn.hosts) == 5 * k * k // 4
    assert len(drawn.a) == 3 * k**3 // 4


def test_fat_tree_is_wired_as_benchmarks_of_peers_are() -> None:
    """Host i on edge i/(k/2); aggregation j of a pod to cores j*(k/2) and following."""
    found = links(network(kind="fat_tree", k=4))
    assert {("h5", "edge2"), ("edge2", "agg2"), ("edge2", "agg3")} <= found
    assert {("agg2", "core0"), ("agg2", "core1"), ("agg3", "core2"), ("agg3", "core3")} <= found
    assert ("edge2", "agg0") not in found
    assert ("agg2", "core2") not in found


@pytest.mark.parametrize(
    ("groups", "routers", "hosts", "up"), [(9, 4, 2, 2), (5, 4, 2, 2), (3, 4, 1, 1), (2, 1, 3, 1)]
)
def test_a_dragonfly_links_all_routers_of_a_group_and_all_groups(
    groups: int, routers: int, hosts: int, up: int
) -> None:
    """Sizes of closed form; each pair of groups has as many links, each router as many."""
    drawn = network(
        kind="dragonfly", groups=groups, routers_per_group=routers, hosts_per_router=hosts,
        global_links=up, local_rate="20Gbps", global_rate="40Gbps", global_delay="3us",
    )  # fmt: skip
    count = groups * routers
    assert len(drawn.hosts) == count * hosts
    local, between = groups * routers * (routers - 1) // 2, count * up // 2
    assert len(drawn.a) == len(drawn.hosts) + local + between
    number = {f"router{n}": n for n in range(count)}
    inside: set[tuple[int, int]] = set()
    pairs: Counter[tuple[int, int]] = Counter()
    ports: Counter[int] = Counter()
    for a, b in links(drawn):
        speed = drawn.rates[drawn.link_index(a, b)], drawn.delays[drawn.link_index(a, b)]
        if a.startswith("h"):
            assert number[b] == int(a[1:]) // hosts
            continue
        ends = number[a], number[b]
        group = ends[0] // routers, ends[1] // routers
        if group[0] == group[1]:
            inside.add(ends)
            assert speed == (20 * 10**9, 10**6)
        else:
            pairs[min(group), max(group)] += 1
            ports.update(ends)
            assert speed == (40 * 10**9, 3 * 10**6)
    assert len(inside) == local
    assert len(pairs) == groups * (groups - 1) // 2
    assert set(pairs.values()) == {routers * up // (groups - 1)}
    assert [ports[n] for n in range(count)] == [up] * count


def test_a_dragonfly_that_does_not_come_out_even_is_refused() -> None:
    """With what would; two routers may have several links."""
    table = {"kind": "dragonfly", "groups": 4, "routers_per_group": 2, "hosts_per_router": 1}
    assert problems(**table, global_links=1) == [
        (
            "x.toml: topology.global_links: 2 links of a group cannot be shared evenly by 3 other "
            "groups\n"
            "    allowed: routers_per_group x global_links a multiple of groups - 1"
        )
    ]
    resolved = topology.resolve(
        {"rate": "10Gbps", "delay": "1us"} | table | {"groups": 2, "global_links": 2},
        Findings("x.toml"),
    )
    assert resolved is not None
    assert len(resolved.network.bundles) == 4  # both routers of each group have two links


def test_leaf_spine_has_rates_and_delays_by_tier() -> None:
    """Uplinks have their own rate and, when left out, the delay of the hosts' links."""
    drawn = network(kind="leaf_spine", leaves=2, spines=2, hosts_per_leaf=2, uplink_rate="40Gbps")
    up, down = drawn.link_index("leaf1", "spine0"), drawn.link_index("leaf1", "h3")
    assert (drawn.rates[up], drawn.rates[down]) == (40 * 10**9, 10 * 10**9)
    assert drawn.delays[up] == drawn.delays[down] == 10**6


def test_dumbbell_and_ring_are_wired_as_described() -> None:
    """Left hosts are on s0 and right ones on s1; a ring closes."""
    assert links(network(kind="dumbbell", left=1, right=2)) == {
        ("h0", "s0"),
        ("h1", "s1"),
        ("h2", "s1"),
        ("s0", "s1"),
    }
    assert ("s2", "s0") in links(network(kind="ring", switches=3))
    assert ("s2", "s0") not in links(network(kind="line", switches=3))


def test_one_network_has_one_canonical_form() -> None:
    """Units, defaults written out and the order of a link's ends make no difference."""
    short = canonical(
        kind="dumbbell", left=1, right=1, failures=[{"link": ["s0", "h0"], "down": "1us"}]
    )
    long = canonical(
        kind="dumbbell",
        left=1,
        right=1,
        delay="1000ns",
        trunk_rate="10000Mbps",
        trunk_delay="0.001ms",
        failures=[{"link": ["h0", "s0"], "down": "1000ns"}],
    )
    assert short == long
    assert encode(short)["failures"] == [{"link": ["h0", "s0"], "down_ps": 10**6, "up_ps": -1}]


def test_failed_links_become_failures() -> None:
    """A link failed from the start goes down at 0 for ever; others at their times."""
    drawn = network(
        kind="ring",
        switches=4,
        failed_links=[["s1", "s0"]],
        failures=[{"link": ["s2", "s3"], "down": "1ms", "up": "2ms"}],
    )
    at_start, later = drawn.link_index("s0", "s1"), drawn.link_index("s3", "s2")
    assert drawn.failures == ((at_start, 0, -1), (later, 10**9, 2 * 10**9))
    assert drawn.failed_links == {at_start}


@given(st.integers(1, 1000))
def test_random_failures_keep_hosts_connected_and_depend_on_the_seed_alone(seed: int) -> None:
    """As many links between switches fail as asked for, the same ones for the same seed."""
    table = canonical(kind="fat_tree", k=4, random_failed_links=4)
    drawn = failing.draw_failed_links(table, seed)
    assert drawn == failing.draw_failed_links(table, seed)
    assert len(drawn.failed_links) == 4
    assert not any(end.startswith("h") for link in drawn.failed_links for end in link)
    assert topology.build(drawn).cut_off() == []


def test_too_many_random_failures_are_refused() -> None:
    """Three of the four links of a ring cannot fail without cutting off a host."""
    table = canonical(kind="ring", switches=4, random_failed_links=3)
    with pytest.raises(UserError, match="3 failed links cut off a host in each of 1000 draws"):
        failing.draw_failed_links(table, 1)


def test_an_explicit_topology_is_checked_as_a_graph() -> None:
    """Unknown ends, loops and hosts without a link are all named."""
    told = problems(
        kind="explicit",
        hosts=["a", "b", "c"],
        switches=["s"],
        links=[
            {"between": ["a", "s"]},
            {"between": ["s", "a"]},
            {"between": ["b", "t"]},
            {"between": ["s", "s"]},
        ],
    )
    assert told == [
        "x.toml: topology.links[2]: there is no node 't'",
        (
            "x.toml: topology.links[3]: a link leads from a node to itself\n"
            "    allowed: two different ends"
        ),
        "x.toml: topology.hosts[2]: host 'c' has no link\n    allowed: one or several",
    ]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            {"kind": "fat-tree", "k": 4},
            (
                "x.toml: topology.kind: unknown topology 'fat-tree'\n"
                "    allowed: star, dumbbell, line, ring, fat_tree, leaf_spine, rail_optimised, "
                "dragonfly, explicit, file\n"
                "    hint: did you mean 'fat_tree'?"
            ),
        ),
        (
            {"kind": "fat_tree", "k": 3},
            "x.toml: topology.k: k is odd: 3\n    allowed: an even number",
        ),
        (
            {"kind": "star", "hosts": 3, "rate": "0Gbps"},
            "x.toml: topology.rate: '0Gbps' is not allowed\n    allowed: greater than 0",
        ),
        (
            {"kind": "star", "hosts": 3, "failed_links": [["h0", "h1"]]},
            (
                "x.toml: topology.failed_links[0]: there is no link between h0 and h1\n"
                "    allowed: h0 has links to s0"
            ),
        ),
        (
            {"kind": "star", "hosts": 3, "failed_links": [["h2", "s0"]]},
            (
                "x.toml: topology.failed_links: there is no path from h0 to h2\n"
                "    allowed: hosts that can all reach each other"
            ),
        ),
        (
            {
                "kind": "star",
                "hosts": 3,
                "failures": [{"link": ["h0", "s0"], "down": "1us", "up": "1us"}],
            },
            (
                "x.toml: topology.failures[0].up: the link comes up before it goes down\n"
                "    allowed: a time after 'down'"
            ),
        ),
        (
            {"kind": "ring", "switches": 3, "random_failed_links": 4},
            (
                "x.toml: topology.random_failed_links: 4 of 3 links between switches are to fail\n"
                "    allowed: 0 to 3"
            ),
        ),
    ],
)
def test_what_cannot_be_is_refused(table: dict[str, Any], message: str) -> None:
    """Each message says where, what, and what is allowed."""
    assert problems(**table) == [message]


def test_a_form_that_is_not_canonical_is_refused() -> None:
    """What is built is a RunSpec, not an experiment file."""
    with pytest.raises(ValueError, match="rate: the canonical key ends in its unit"):
        topology_of({"kind": "star", "hosts": 3, "rate": 10**9, "delay_ps": 1})


@pytest.mark.parametrize(
    ("gigabits", "codewords", "symbols", "line"),
    [
        (10, 0, 0, 10.3125),
        (25, 1, 528, 25.78125),
        (50, 1, 544, 53.125),
        (100, 1, 528, 103.125),
        (100, 1, 544, 106.25),
        (200, 2, 544, 212.5),
        (400, 2, 544, 425),
        (800, 4, 544, 850),
    ],
)
def test_links_with_fec_add_the_time_of_their_codewords(
    gigabits: int, codewords: int, symbols: int, line: float
) -> None:
    """Symbols of 10 bits at the rate of the line, parity included; the same for listed links."""
    added = round(codewords * symbols * 10 / line * 1000)
    star = {"kind": "star", "hosts": 2, "rate": f"{gigabits}Gbps", "delay": "1us"}
    assert network(**star).delays.tolist() == [10**6] * 2
    assert network(**star, phy="rs-fec").delays.tolist() == [10**6 + added] * 2
    listed = {"kind": "explicit", "hosts": ["a", "b"], "switches": [], "phy": "rs-fec"}
    own = {"between": ["a", "b"], "rate": f"{gigabits}Gbps", "delay": "2us"}
    assert network(**listed, links=[own]).delays.tolist() == [2 * 10**6 + added]


def test_fec_is_of_links_not_of_nics_and_only_at_rates_of_ethernet() -> None:
    """A NIC that hosts share is no link away; a rate without codes is refused."""
    shared = {"kind": "star", "hosts": 4, "hosts_per_server": 2, "hosts_per_nic": 2}
    found = network(**shared, rate="400Gbps", phy="rs-fec")
    assert sorted(found.delays.tolist()) == [0] * 4 + [10**6 + 25_600] * 2
    (told,) = problems(kind="star", hosts=2, rate="33Gbps", phy="rs-fec")
    assert "topology.phy: Ethernet has no links of 33Gbps, so no RS-FEC of theirs" in told
    assert "400Gbps" in told
    star = {"kind": "star", "hosts": 2, "rate": "25Gbps"}
    ideal = encode(canonical(**star))
    assert encode(canonical(**star, phy="ideal")) == ideal  # runs of before keep their names
    assert encode(canonical(**star, phy="rs-fec")) == ideal | {"phy": "rs-fec"}
