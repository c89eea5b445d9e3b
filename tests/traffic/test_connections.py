"""Which messages share queue pairs, and how they are divided: against rules applied one by one."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyorch.base.findings import Findings
from pyorch.network.topology import Topology
from pyorch.traffic import base as traffic
from pyorch.traffic.connections import Use, connect, source_port_of, source_ports
from tests.cli.test_end_to_end import run
from tests.strategies import network
from tests.traffic.test_traffic import WORKLOADS, resolve

STAR = network(kind="star", hosts=4)
SERVERS = network(
    kind="leaf_spine",
    leaves=2,
    spines=2,
    hosts_per_leaf=4,
    hosts_per_server=2,
    scale_up={"rate": "900Gbps", "delay": "1us"},
)


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(1, 2000)), min_size=1, max_size=12),
    st.integers(1, 9),
    st.sampled_from(["all", "round-robin"]),
)
def test_messages_are_divided_as_the_rule_says(
    messages: list[tuple[int, int]], queue_pairs: int, split: str
) -> None:
    """Shares are ceil(size / queue pairs), rounded up to 128 B; the last ones may be empty."""
    numbers = 3 * np.arange(len(messages)) + 1
    keys = np.array([[key for key, _ in messages]])
    sizes = np.array([size for _, size in messages])
    uses = [Use(queue_pairs, split)] * len(messages)
    made, of_owner = connect(numbers, keys, sizes, uses, flows=100)
    carried: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    shares = []
    turns: dict[int, int] = defaultdict(int)
    for number, (key, size) in zip(numbers.tolist(), messages, strict=True):
        if split == "round-robin":
            carried[key, turns[key] % queue_pairs].append((number, number))
            turns[key] += 1
            continue
        share = -(-size // queue_pairs)
        share = -(-share // 128) * 128 if queue_pairs > 1 else share
        for place, begin in enumerate(range(0, size, share)):
            name = number if place == 0 else 100 + len(shares)
            if place > 0:
                shares.append((number, min(share, size - begin)))
            carried[key, place].append((name, number))
    assert list(zip(made.messages.tolist(), made.sizes.tolist(), strict=True)) == shares
    owner_of = {
        name: min(pieces)[0] for pieces in carried.values() for name, _ in sorted(pieces)[1:]
    }
    assert dict(zip(made.flows.tolist(), made.queue_pairs.tolist(), strict=True)) == owner_of
    owners = {min(pieces) for pieces in carried.values()}
    assert set(zip(made.owners.tolist(), of_owner.tolist(), strict=True)) == owners


@pytest.mark.parametrize(
    ("local", "remote", "port"),
    [
        (0x1A3, 0x2B7, 61844),
        (0x1A4, 0x2B7, 62509),
        (0x100, 0x200, 49160),
        (0x200, 0x400, 49184),
    ],
)
def test_source_ports_are_those_of_linux(local: int, remote: int, port: int) -> None:
    """By hand from rdma_calc_flow_label; the same in both directions."""
    for ends in (local, remote), (remote, local):
        assert source_port_of(*(np.array([end]) for end in ends)).tolist() == [port]


def test_queue_pairs_of_a_host_are_numbered_one_after_the_other() -> None:
    """The ports are those of consecutive numbers, from a number of each host."""
    src, dst = np.array([0, 0, 1, 0]), np.array([1, 2, 0, 1])
    base = np.random.default_rng(5).integers(2, 1 << 24, size=3)
    ends = [(0, 0, 1, 0), (0, 1, 2, 0), (1, 1, 0, 2), (0, 3, 1, 2)]
    local = np.array([base[a] + i for a, i, _, _ in ends])
    remote = np.array([base[b] + j for _, _, b, j in ends])
    found = source_ports(src, dst, 3, np.random.default_rng(5))
    assert found.tolist() == source_port_of(local, remote).tolist()


def flows_of(*entries: dict[str, Any], net: Topology = STAR) -> traffic.Flows:
    """The flows of entries that have no problems."""
    findings = Findings("x.toml")
    scene = traffic.Scene(net, WORKLOADS, WORKLOADS, 10**9)
    tables = [
        traffic.resolve(entry, findings, ("traffic", str(number)), scene)
        for number, entry in enumerate(entries)
    ]
    assert not findings.problems, [one.render() for one in findings.problems]
    return traffic.flows([one for one in tables if one], net, 1, 10**9)


def problems_of(entry: dict[str, Any]) -> str:
    """What is said of an entry."""
    findings = Findings("x.toml")
    scene = traffic.Scene(STAR, WORKLOADS, WORKLOADS, 10**9)
    traffic.resolve(entry, findings, ("traffic", "0"), scene)
    return "\n".join(problem.render() for problem in findings.problems)


RING = {"name": "ring", "operation": "all_reduce", "size": "40KB"}


@pytest.mark.parametrize(("split", "sharers"), [("round-robin", 1), ("all", 4)])
def test_queue_pairs_of_a_message_share_its_limits(split: str, sharers: int) -> None:
    """All of them together have the rate and the window of the message."""
    keys = {"queue_pairs": 4, "split": split, "rate_cap": "10Gbps", "window": "40KB"}
    job = flows_of({"kind": "collective", "collectives": [RING], **keys})
    assert set(job.rates.tolist()) == {10**10 // sharers}
    assert set(job.windows.tolist()) == {40_000 // sharers}
    pair = RING | {"hosts": ["h0", "h1"]}  # of one server: without a queue pair on the network
    inside = flows_of({"kind": "collective", "collectives": [pair], **keys}, net=SERVERS)
    assert set(inside.rates.tolist()) == {10**10}


CAPPED = """
title = "caps"
run = { duration = "1ms", drain = "1s", stop_when_done = true }
topology = { kind = "star", hosts = 2, rate = "100Gbps", delay = "1us" }
variants = { one.traffic.job.split = "round-robin", all.traffic.job.split = "all" }
[[traffic]]
kind = "collective"
label = "job"
queue_pairs = 4
rate_cap = "10Gbps"
collectives = [{ name = "a", operation = "broadcast", algorithm = "chain", size = "4MB" }]
[[metric]]
name = "whole"
kind = "job_time"
traffic = "job"
"""


@pytest.mark.cpp
def test_a_message_on_all_queue_pairs_obeys_its_cap(tmp_path: Path) -> None:
    """4 MB at 10 Gb/s, with the headers of its packets, over one queue pair or four."""
    done, results = run(tmp_path, CAPPED)
    assert done.returncode == 0, done.stdout + done.stderr
    (file,) = results.rglob("runs.parquet")
    time = pd.read_parquet(file).set_index("variant").whole
    least = 4e6 * 8 / 10e9 * 1e12
    for split in ("one", "all"):
        assert least < time[split] < 1.15 * least, split


def test_jobs_have_a_connection_for_each_pair() -> None:
    """Collectives by default, also over the NICs of servers; other kinds if they say so."""
    job = flows_of({"kind": "collective", "collectives": [RING]})
    assert job.connections is not None
    assert len(job.connections.owners) == 4
    assert len(job) == 24
    own = flows_of({"kind": "collective", "connection": "message", "collectives": [RING]})
    assert own.connections is None
    tensor = RING | {"hosts": ["h0", "h4", "h5", "h1"]}
    rails = flows_of({"kind": "collective", "nic": "rail", "collectives": [tensor]}, net=SERVERS)
    assert rails.connections is not None
    # h0 -> h4 and h5 -> h1 on the network; h4 -> h5 and h1 -> h0 inside of servers
    names = [SERVERS.names[node] for node in rails.src[rails.connections.owners].tolist()]
    assert sorted(names) == ["h0", "h5"]
    pairs = {"kind": "messages", "messages": [{"src": "h0", "dst": "h1", "size": "1KB"}] * 3}
    assert flows_of(pairs).connections is None


def test_what_cannot_be_is_said() -> None:
    """Several queue pairs need a connection; bursts and paths need one for each message."""
    entry = {"kind": "collective", "collectives": [RING]}
    for key, value in (("queue_pairs", 2), ("split", "all")):
        told = problems_of(entry | {"connection": "message", key: value})
        assert f"traffic[0].{key}: a message with" in told
        assert 'connection = "pair"' in told
    assert 'connection = "message"' in problems_of(entry | {"on": "1us", "off": "1us"})
    assert "128" in problems_of(entry | {"queue_pairs": 129})


LATE = {"stragglers": [{"hosts": ["h3"], "slowdown": 2}]}
CALC = """num_ranks 2
rank 0 {
a: calc 5
b: send 9b to 1 tag 1
}
rank 1 {
a: recv 9b from 0 tag 1
}
"""


TRACE = {"kind": "goal", "schedule": CALC}


@pytest.mark.parametrize(
    ("change", "phase", "doubted"),
    [
        ({}, {}, []),
        ({"split": "all"}, {}, ["split"]),
        ({"split": "all", "queue_pairs": 2}, {}, []),
        ({"link": "rail"}, {}, ["link"]),
        (LATE, {}, ["stragglers"]),
        (LATE, {"delay": "1us"}, []),
        (LATE | {"hosts": ["h4..h7"]}, {"delay": "1us"}, ["stragglers"]),
        ({}, {"algorithm": "hierarchical", "local": 2}, []),
        ({}, {"algorithm": "hierarchical", "local": 4}, ["collectives.ring.local"]),
        ({"placement": "random"}, {"algorithm": "hierarchical", "local": 4}, []),
        (LATE | TRACE, {}, ["stragglers"]),
        (LATE | TRACE | {"hosts": ["h3..h6"]}, {}, []),
    ],
)
def test_keys_without_effect_are_doubted(
    change: dict[str, Any], phase: dict[str, Any], doubted: list[str]
) -> None:
    """Those of connections, of late hosts, and of servers that the topology has otherwise."""
    entry = change if "kind" in change else {"kind": "collective", "collectives": [RING | phase]}
    form: Any
    form, problems = resolve(entry | change, SERVERS)
    assert form is not None, problems
    assert [key for key, _ in form.doubts(SERVERS)] == doubted
