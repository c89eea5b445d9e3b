"""Servers of several hosts: scale-up domains, rails, dual-homing, and the networks made of them."""

from __future__ import annotations

import heapq
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyorch.addons.jobs.collectives import ALGORITHMS
from pyorch.base.findings import Findings
from pyorch.network import topology
from pyorch.traffic import base as traffic
from tests.cli.test_end_to_end import run
from tests.jobs.test_collectives import inline
from tests.network.test_topology import canonical, links, problems
from tests.strategies import network

STAR = {"kind": "star", "hosts": 4}
RATE, DELAY = 400 * 10**9, 500_000
PAUSE = 3 * 10**6


def transmission(size: int) -> int:
    """X: time of a message on a link of the domain [ps]."""
    return size * 8 * 10**12 // RATE


def alone(size: int) -> int:
    """a: time of a message that meets no other [ps]."""
    return DELAY + transmission(size)


#: One server of eight hosts; 40 KB, 3 us between steps.
ONE_SERVER = f"""
title = "one server"
port.pause_response = "ideal"
[run]
duration = "1ms"
stop_when_done = true
[topology]
kind = "star"
hosts = 8
rate = "1Gbps"
delay = "1us"
hosts_per_server = 8
scale_up = {{ rate = "{RATE}bps", delay = "{DELAY}ps" }}
[[traffic]]
kind = "collective"
connection = "message"
label = "job"
collectives = []
[[metric]]
name = "time"
kind = "collective_time"
traffic = "job"
"""
S, N = 40_000, 8
#: Every algorithm, what else it is asked, and its time by a and X, as docs/servers.md has it.
CLOSED: dict[tuple[str, str], tuple[dict[str, Any], int]] = {
    ("all_reduce", "ring"): ({}, 14 * alone(S // N) + 13 * PAUSE),
    ("reduce_scatter", "ring"): ({}, 7 * alone(S // N) + 6 * PAUSE),
    ("all_gather", "ring"): ({}, 7 * alone(S // N) + 6 * PAUSE),
    # n + k - 2 chunks follow each other
    ("broadcast", "chain"): ({"chunks": 4}, 10 * alone(S // 4) + 6 * PAUSE),
    # two levels above the leaves 3 to 6, and leaf 7 above 3: at rank 0 two messages meet, and the
    # deepest of each pair comes with its sibling
    ("all_reduce", "tree"): (
        {"hosts": "h0..h2"},
        2 * (alone(S) + transmission(S)) + PAUSE,
    ),
    ("all_reduce", "double_tree"): (
        {"hosts": "h0..h3"},
        2 * (alone(S // 2) + transmission(S // 2)) + 2 * alone(S // 2) + 3 * PAUSE,
    ),
    # 0 to 1, 1 to 3, 3 to 7; all others are there before
    ("broadcast", "binomial"): ({}, 3 * alone(S) + 2 * PAUSE),
    ("all_reduce", "halving_doubling"): (
        {},
        2 * (alone(S // 2) + alone(S // 4) + alone(S // 8)) + 5 * PAUSE,
    ),
    ("reduce_scatter", "halving"): (
        {},
        alone(S // 2) + alone(S // 4) + alone(S // 8) + 2 * PAUSE,
    ),
    ("all_gather", "doubling"): ({}, alone(S // 2) + alone(S // 4) + alone(S // 8) + 2 * PAUSE),
    ("all_reduce", "hierarchical"): (
        {"local": 4},
        6 * alone(S // 4) + 2 * alone(S // 8) + 7 * PAUSE,
    ),
    # shifts: no two messages meet on their way in
    ("all_to_all", "direct"): ({}, DELAY + 7 * transmission(S // N)),
    ("all_to_all", "pairwise"): ({}, 7 * alone(S // N) + 6 * PAUSE),
}


@pytest.mark.cpp
def test_collectives_in_a_server_take_their_closed_forms(tmp_path: Path) -> None:
    """All there are, to the picosecond; the network, which is far slower, has no part in it."""
    assert CLOSED.keys() == ALGORITHMS.keys()
    text = ONE_SERVER
    for (operation, algorithm), (more, _) in CLOSED.items():
        one = {"name": "one", "operation": operation, "algorithm": algorithm, "size": f"{S}B"}
        text += f"[variants.{operation}-{algorithm}]\n"
        text += f'"traffic.job.collectives" = {inline([one | {"step_delay": "3us"} | more])}\n'
    done, results = run(tmp_path, text)
    assert done.returncode == 0, done.stderr
    (table,) = results.rglob("runs.parquet")
    runs = pd.read_parquet(table).set_index("variant")
    found = {named: int(runs.loc["-".join(named), "time"]) for named in CLOSED}
    assert found == {named: closed for named, (_, closed) in CLOSED.items()}


def carried(messages: list[tuple[int, int, int, int]]) -> list[int]:
    """When messages (start, source, destination, size) have arrived: a second model, by a heap."""
    outward, inward = {}, {}
    arrivals = []
    for number, (start, src, dst, size) in sorted(enumerate(messages), key=lambda m: m[1][0]):
        begin = max(start, outward.get(src, 0))
        outward[src] = begin + transmission(size)
        heapq.heappush(arrivals, (begin + DELAY, start, number, dst, size))
    ends = [0] * len(messages)
    while arrivals:
        first_bit, _, number, dst, size = heapq.heappop(arrivals)
        ends[number] = inward[dst] = max(first_bit, inward.get(dst, 0)) + transmission(size)
    return ends


@pytest.mark.cpp
def test_messages_of_a_server_queue_at_both_links(tmp_path: Path) -> None:
    """As a second model has it, of 200 messages at random; and alone they take the ideal time."""
    random = np.random.Generator(np.random.PCG64(7))
    starts = np.sort(random.choice(20_000_000, 200, replace=False)).tolist()
    ends = [random.choice(8, 2, replace=False).tolist() for _ in starts]
    sizes = random.integers(1, 100_000, 200).tolist()
    messages = [(t, *pair, size) for t, pair, size in zip(starts, ends, sizes, strict=True)]
    rows = "".join(f"h{src},h{dst},{size},{start}\n" for start, src, dst, size in messages)
    (tmp_path / "m.csv").write_text("src,dst,size,start_ps\n" + rows)
    text = ONE_SERVER.split("[[traffic]]", maxsplit=1)[0]
    done, results = run(tmp_path, text + '[[traffic]]\nkind = "messages"\nfile = "m.csv"\n')
    assert done.returncode == 0, done.stderr
    (file,) = results.rglob("flow.parquet")
    flow = pd.read_parquet(file)
    assert flow["finish_ps"].tolist() == carried(messages)
    assert flow["ideal_ps"].tolist() == [alone(size) for size in sizes]
    assert (flow["acked_ps"] == flow["finish_ps"]).all()
    assert (flow["delivered_bytes"] == flow["size_bytes"]).all()
    assert (flow["finish_ps"] > flow["start_ps"] + flow["ideal_ps"]).any(), "some waited"


#: Two servers of four hosts on rails, and a message from one to another rail of the other server.
RAILS = f"""
title = "rails"
port.pause_response = "ideal"
[run]
duration = "1ms"
stop_when_done = true
[topology]
kind = "rail_optimised"
groups = 1
servers_per_group = 2
hosts_per_server = 4
spines = 2
rate = "100Gbps"
delay = "1us"
scale_up = {{ rate = "{RATE}bps", delay = "{DELAY}ps" }}
[queue_pair]
ack_every = 1000000
[[traffic]]
kind = "messages"
label = "job"
messages = [{{ src = "h0", dst = "h5", size = "40KB", start = "2us" }}]
"""
PACKET = 1068 * 80


def flows_of(results: Path, where: dict[str, str] | None = None) -> pd.DataFrame:
    """The table `flow` of the only run, or of that of a variant."""
    files = sorted(results.rglob("flow.parquet"))
    if where is None:
        (file,) = files
        return pd.read_parquet(file)
    for file in files:
        spec = json.loads((file.parent / "spec.json").read_text())
        if where.items() <= spec["topology"].items() | spec["traffic"][0].items():
            return pd.read_parquet(file)
    raise AssertionError(where)


@pytest.mark.cpp
def test_a_message_by_its_rail_goes_over_the_scale_up_domain_first(tmp_path: Path) -> None:
    """Then through one leaf instead of three switches, both to the picosecond."""
    text = RAILS + '[variants.Own]\n[variants.Rail]\n"traffic.job.nic" = "rail"\n'
    done, results = run(tmp_path, text)
    assert done.returncode == 0, done.stderr
    times = []
    for file in sorted(results.rglob("flow.parquet")):
        flow = pd.read_parquet(file)
        assert (flow["src"].item(), flow["dst"].item()) == (0, 5)
        times.append(flow["finish_ps"].item() - flow["start_ps"].item())
        assert times[-1] == flow["ideal_ps"].item()
    own = 43 * PACKET + 4 * 10**6  # 40 packets, and one more for each further link
    rail = alone(40_000) + 41 * PACKET + 2 * 10**6
    assert sorted(times) == sorted([own, rail])


#: Two servers of four GPUs and two NICs each, at one switch.
SHARED = f"""
title = "two GPUs behind a NIC"
port.pause_response = "ideal"
[run]
duration = "1ms"
stop_when_done = true
[topology]
kind = "star"
hosts = 8
hosts_per_server = 4
hosts_per_nic = 2
rate = "100Gbps"
delay = "1us"
scale_up = {{ rate = "{RATE}bps", delay = "{DELAY}ps" }}
[queue_pair]
ack_every = 1000000
[[traffic]]
kind = "messages"
label = "job"
messages = []
"""


@pytest.mark.cpp
def test_gpus_of_a_nic_share_it_frame_by_frame(tmp_path: Path) -> None:
    """Alone (N + 3) P + 2 D, two from one NIC to one (2 N + 3) P + 2 D, of two NICs as alone."""
    apart = 43 * PACKET + 2 * 10**6
    cases = {
        "one": ([("h0", "h4")], apart),
        "shared": ([("h0", "h4"), ("h1", "h5")], 83 * PACKET + 2 * 10**6),
        "apart": ([("h0", "h4"), ("h2", "h6")], apart),
        "inside": ([("h0", "h1")], alone(40_000)),
    }
    text = SHARED + '[[metric]]\nname = "time"\nkind = "collective_time"\ntraffic = "job"\n'
    for name, (pairs, _) in cases.items():
        messages = [{"src": src, "dst": dst, "size": "40KB"} for src, dst in pairs]
        text += f'[variants.{name}]\n"traffic.job.messages" = {inline(messages)}\n'
    done, results = run(tmp_path, text)
    assert done.returncode == 0, done.stderr
    (table,) = results.rglob("runs.parquet")
    runs = pd.read_parquet(table).set_index("variant")
    assert {name: int(runs.loc[name, "time"]) for name in cases} == {
        name: time for name, (_, time) in cases.items()
    }


@pytest.mark.cpp
def test_a_hierarchical_all_reduce_brings_two_blocks_to_each_nic(tmp_path: Path) -> None:
    """On rails of NICs: nothing crosses a spine, and a step lasts as long as both blocks."""
    head, rest = RAILS.split("[[traffic]]", maxsplit=1)[0], "hosts_per_server = 4\n"
    job = {"name": "sum", "operation": "all_reduce", "algorithm": "hierarchical", "size": "160KB"}
    text = head.replace(rest, rest + "hosts_per_nic = 2\n") + (
        '[[traffic]]\nkind = "collective"\nlabel = "job"\n'
        f"collectives = {inline([job])}\n"
        '[[trace]]\ntable = "flow_link"\n'
        '[[metric]]\nname = "time"\nkind = "collective_time"\ntraffic = "job"\n'
    )
    done, results = run(tmp_path, text)
    assert done.returncode == 0, done.stderr
    (table,) = results.rglob("runs.parquet")
    (time,) = pd.read_parquet(table)["time"]
    step = (2 * 20 + 3) * PACKET + 2 * 10**6
    # a block may be ahead of its neighbour by a packet, and an ACK before each
    assert time == pytest.approx(6 * alone(40_000) + 2 * step, abs=2 * PACKET)
    (file,) = results.rglob("flow_link.parquet")
    sent = pd.read_parquet(file).groupby(["node", "peer"])["bytes"].sum()
    drawn = network(
        kind="rail_optimised", groups=1, servers_per_group=2, hosts_per_server=4,
        hosts_per_nic=2, spines=2,
    )  # fmt: skip
    leaf = {"nic0": "leaf0", "nic1": "leaf1", "nic2": "leaf0", "nic3": "leaf1"}
    expected = dict.fromkeys(leaf.items(), 80 * 1068)
    expected |= {(up, nic): 80 * 1068 for nic, up in leaf.items()}
    expected |= {(f"h{n}", f"nic{n // 2}"): 40 * 1068 for n in range(8)}
    expected |= {(f"nic{n // 2}", f"h{n}"): 40 * 1068 for n in range(8)}
    names = drawn.names
    found = {(names[node], names[peer]): count for (node, peer), count in sent.items()}
    assert found == expected


@pytest.mark.cpp
def test_a_dragonfly_of_servers_is_as_far_as_its_links(tmp_path: Path) -> None:
    """A message to each other server takes the links that a walk in breadth counts; in it, a."""
    table = {"kind": "dragonfly", "groups": 5, "routers_per_group": 2, "hosts_per_router": 2}
    drawn = network(**table, global_links=2, hosts_per_server=2)
    far, todo = {0: 0}, [0]
    near: dict[int, set[int]] = {}
    for a, b in zip(drawn.a.tolist(), drawn.b.tolist(), strict=True):
        near.setdefault(a, set()).add(b)
        near.setdefault(b, set()).add(a)
    for node in todo:
        for other in near[node] - far.keys():
            far[other] = far[node] + 1
            todo.append(other)
    others = [host for host in drawn.hosts.tolist() if host]
    messages = [
        {"src": "h0", "dst": f"h{host}", "size": "10KB", "start": f"{20 * host}us"}
        for host in others
    ]
    text = f"""
title = "dragonfly"
run = {{ duration = "1ms", stop_when_done = true }}
port.pause_response = "ideal"
[topology]
kind = "dragonfly"
groups = 5
routers_per_group = 2
hosts_per_router = 2
global_links = 2
hosts_per_server = 2
rate = "100Gbps"
delay = "1us"
scale_up = {{ rate = "{RATE}bps", delay = "{DELAY}ps" }}
[queue_pair]
ack_every = 1000000
[[traffic]]
kind = "messages"
messages = {inline(messages)}
"""
    done, results = run(tmp_path, text)
    assert done.returncode == 0, done.stderr
    flow = flows_of(results)
    assert sorted({far[host] for host in others if host > 1}) == [3, 4, 5]
    expected = [
        alone(10_000) if host == 1 else (9 + far[host]) * PACKET + far[host] * 10**6
        for host in others
    ]
    assert (flow["finish_ps"] - flow["start_ps"]).tolist() == expected


TWO_HOMES = """
title = "two homes"
port.pause_response = "ideal"
[run]
duration = "1ms"
drain = "20ms"
allow_loss = true
stop_when_done = true
[topology]
kind = "rail_optimised"
groups = 1
servers_per_group = 3
hosts_per_server = 2
spines = 1
rate = "100Gbps"
delay = "1us"
failures = [{ link = ["h0", "leaf0"], down = "20us" }, { link = ["h5", "leaf1"], down = "50us" }]
[queue_pair]
retransmit = "go_back_n"
timeout = "100us"
[[traffic]]
kind = "messages"
label = "job"
messages = [
  { src = "h0", dst = "h2", size = "1MB" },
  { src = "h3", dst = "h5", size = "1MB" },
  { src = "h0", dst = "h5", size = "1MB", start = "300us" },
  { src = "h2", dst = "h4", size = "1MB" },
]
"""


@pytest.mark.cpp
def test_flows_of_a_failed_link_move_to_the_other_host_of_their_server(tmp_path: Path) -> None:
    """At the source, at the destination, and those that begin later; else they never end."""
    text = TWO_HOMES + "[variants.Alone]\n[variants.Both]\ntopology.failover = true\n"
    done, results = run(tmp_path, text)
    assert done.returncode == 0, done.stderr + done.stdout
    tables = {
        bool(json.loads((file.parent / "spec.json").read_text())["topology"].get("failover")): (
            pd.read_parquet(file)
        )
        for file in results.rglob("flow.parquet")
    }
    alone_, both = tables[False], tables[True]
    assert (alone_["finish_ps"] < 0).tolist() == [True, True, True, False]
    assert (both["finish_ps"] > 0).all()
    assert both["delivered_bytes"].tolist() == [1_000_000] * 4
    assert both["src"].tolist() == [0, 3, 0, 2], "the table has the ends that were asked for"
    assert both["dst"].tolist() == [2, 5, 5, 4]
    # what was lost is sent again after one time-out, and then goes on at line rate
    latest = 20_000_000 + 100_000_000 + 1000 * PACKET + 10 * 10**6
    assert both["finish_ps"][0] < latest
    # h4 now takes what was for h5, too
    assert both["finish_ps"][3] > alone_["finish_ps"][3] + 10 * 10**6


# ---------------------------------------------------------------------------------------------
# Networks and placements


def test_rails_are_wired_as_described() -> None:
    """Host r of each server of group g is on leaf g n + r, and all leaves have all spines."""
    drawn = network(
        kind="rail_optimised", groups=2, servers_per_group=3, hosts_per_server=2, spines=2
    )
    on = {(host, leaf) for host, leaf in links(drawn) if host.startswith("h")}
    expected = {
        (f"h{server * 2 + rail}", f"leaf{server // 3 * 2 + rail}")
        for server in range(6)
        for rail in range(2)
    }
    assert on == expected
    up = {(leaf, spine) for leaf, spine in links(drawn) if spine.startswith("spine")}
    assert up == {(f"leaf{leaf}", f"spine{spine}") for leaf in range(4) for spine in range(2)}
    assert drawn.servers[drawn.hosts].tolist() == [n // 2 for n in range(12)]


def test_a_nic_is_between_its_hosts_and_their_leaf() -> None:
    """Of each rail; placements, racks of traffic and random failures know the leaf behind it."""
    drawn = network(
        kind="rail_optimised", groups=2, servers_per_group=2, hosts_per_server=4,
        hosts_per_nic=2, spines=2, oversubscription=2, rate="100Gbps",
    )  # fmt: skip
    on = {ends for ends in links(drawn) if any(end.startswith("nic") for end in ends)}
    expected = {(f"h{n}", f"nic{n // 2}") for n in range(16)}
    # server s is in group s // 2; NIC r of it on leaf 2 (s // 2) + r
    expected |= {(f"nic{n}", f"leaf{n // 4 * 2 + n % 2}") for n in range(8)}
    assert on == expected
    assert [drawn.names[leaf] for leaf in drawn.leaves[drawn.hosts]] == [
        f"leaf{host // 8 * 2 + host % 4 // 2}" for host in range(16)
    ]
    assert [drawn.names[node] for node in drawn.racks[drawn.hosts]] == [
        f"nic{host // 2}" for host in range(16)
    ]
    # two NICs at 100 Gb/s below a leaf, two uplinks, half of that rate
    assert drawn.rates[drawn.link_index("leaf0", "spine0")] == 50 * 10**9
    assert drawn.host_rates[0] == 50 * 10**9
    assert drawn.delays[drawn.link_index("h0", "nic0")] == 0
    assert len(topology.trunks(drawn)) == 4 * 2
    assert traffic.expand_hosts("leaf1:*", drawn) == ["h2", "h3", "h6", "h7"]


def test_links_may_be_drawn_from_either_end() -> None:
    """As kinds of users do."""
    wiring = topology.Wiring(hosts=["h0", "h1", "h2", "h3"], switches=["s"])
    for host in wiring.hosts[:2]:
        wiring.link("s", host, 5, 7)
    for host in wiring.hosts[2:]:
        wiring.link(host, "s", 5, 7)
    assert wiring.share_nics(2) == []
    assert links(wiring.finish()) == {
        *((f"h{n}", f"nic{n // 2}") for n in range(4)),
        *((f"nic{n}", "s") for n in range(2)),
    }


def test_rails_of_shared_nics_need_no_hop_inside_the_server() -> None:
    """A flow to the other GPU of its NIC's rail leaves by its own; to another rail by that one."""
    drawn = network(
        kind="rail_optimised", groups=1, servers_per_group=2, hosts_per_server=4,
        hosts_per_nic=2, spines=1, scale_up={"rate": "1Tbps", "delay": "1us"},
    )  # fmt: skip
    pairs = [("h0", "h4"), ("h0", "h5"), ("h0", "h6"), ("h3", "h5"), ("h1", "h2")]
    messages = [{"src": src, "dst": dst, "size": "1KB"} for src, dst in pairs]
    entry = {"kind": "messages", "messages": messages, "nic": "rail"}
    scene = traffic.Scene(drawn, Path(), Path(), 10**9)
    table = traffic.resolve(entry, Findings("x"), (), scene)
    assert table is not None
    flows = traffic.flows([table], drawn, 1, 10**9)
    assert flows.nics is not None
    assert dict(zip(flows.nics.flows.tolist(), flows.nics.leaves.tolist(), strict=True)) == {
        2: 2,
        3: 1,
    }


@given(st.integers(1, 5), st.integers(1, 4), st.integers(1, 8), st.sampled_from([0.5, 1, 2, 3]))
def test_oversubscription_is_the_rate_down_over_the_rate_up(
    leaves: int, spines: int, hosts: int, over: float
) -> None:
    """For a leaf; and the canonical form has the resulting rate."""
    table = canonical(
        kind="leaf_spine",
        leaves=leaves,
        spines=spines,
        hosts_per_leaf=hosts + 1,
        oversubscription=over,
    )
    drawn = topology.build(table)
    up = drawn.rates[drawn.link_index("leaf0", "spine0")]
    assert (hosts + 1) * 10**10 / (spines * up) == pytest.approx(over, rel=1e-9)
    same = canonical(
        kind="leaf_spine",
        leaves=leaves,
        spines=spines,
        hosts_per_leaf=hosts + 1,
        uplink_rate=f"{up}bps",
    )
    assert table == same


def test_a_fat_tree_is_oversubscribed_at_its_edges() -> None:
    """The tiers above the hosts have a part of their rate."""
    drawn = network(kind="fat_tree", k=4, oversubscription=2.5)
    for ends, rate in ((("h0", "edge0"), 10), (("edge0", "agg0"), 4), (("agg0", "core0"), 4)):
        assert drawn.rates[drawn.link_index(*ends)] == rate * 10**9


def test_what_no_server_can_be_is_told() -> None:
    """With the key and what is allowed."""
    leaves = {"kind": "leaf_spine", "leaves": 2, "spines": 2, "hosts_per_leaf": 3}
    domain = {"rate": "1Tbps", "delay": "1us"}
    assert problems(**leaves, hosts_per_server=4) == [
        (
            "x.toml: topology.hosts_per_server: 6 hosts in servers of 4\n"
            "    allowed: a number that divides that of the hosts"
        )
    ]
    told = {
        (3, 2): "hosts_per_nic: a server has 3 hosts, and a NIC 2",
        (2, 2): "hosts_per_nic: h2 to h3 are not on one switch",
    }
    for (size, shared), what in told.items():
        (said,) = problems(**leaves, hosts_per_server=size, hosts_per_nic=shared)
        assert said.startswith(f"x.toml: topology.{what}")
    (said,) = problems(**STAR, hosts_per_server=2, hosts_per_nic=2, failover=True)
    assert said.startswith("x.toml: topology.failover: hosts that share a NIC cannot fail over")
    (said,) = problems(
        kind="explicit", hosts=["a", "b"], switches=["s"],
        links=[{"between": ["a", "s"]}, {"between": ["b", "s"]}],
        hosts_per_server=2, hosts_per_nic=2,
    )  # fmt: skip
    assert said.startswith("x.toml: topology.hosts_per_nic: links of kind 'explicit' are listed")
    for key, value in (("scale_up", domain), ("failover", True)):
        assert problems(**leaves, **{key: value}) == [
            (
                f"x.toml: topology.{key}: a server of one host cannot fail over\n"
                "    allowed: with 'hosts_per_server' from 2"
            )
        ]
    assert problems(**leaves, oversubscription=2, uplink_rate="1Gbps") == [
        (
            "x.toml: topology.oversubscription: it contradicts uplink_rate\n"
            "    allowed: one of the two"
        )
    ]


def told(entry: dict[str, Any], **table: Any) -> list[str]:
    """What is wrong with an entry in a network of twelve hosts."""
    star = {"kind": "star", "hosts": 12, "rate": "1Gbps", "delay": "1us"}
    resolved = topology.resolve(star | table, Findings("x.toml"))
    assert resolved is not None
    findings = Findings("x.toml")
    scene = traffic.Scene(resolved.network, Path(), Path(), 10**9)
    permutation = {"kind": "permutation", "size": "1KB", "shift": 1}
    form = traffic.resolve(entry if "kind" in entry else permutation | entry, findings, (), scene)
    assert (form is None) == bool(findings.problems)
    return [problem.what for problem in findings.problems]


def test_a_choice_of_nics_that_there_is_not_is_told() -> None:
    """Each needs servers of its kind, and a path names the hosts itself."""
    gpus = {"hosts_per_server": 4, "scale_up": {"rate": "1Tbps", "delay": "1us"}}
    assert told({"nic": "rail"}, **gpus) == told({"nic": "hash"}, hosts_per_server=4) == []
    assert "server of its own" in told({"nic": "hash"})[0]
    assert "without a scale-up domain" in told({"nic": "rail"}, hosts_per_server=4)[0]
    assert "one NIC of its own" in told({"nic": "hash"}, **gpus)[0]
    greedy = {"kind": "greedy", "src": "h0", "dst": "h9", "path": ["h0", "s0", "h9"]}
    found = told(greedy | {"nic": "rail"}, **gpus)
    assert any("a path names the hosts" in one for one in found)


@pytest.mark.parametrize("nic", ["rail", "hash"])
def test_flows_leave_and_arrive_in_their_servers(nic: str) -> None:
    """By the destination's place, or by a hash that takes every host; those within stay."""
    more = {"scale_up": {"rate": "1Tbps", "delay": "1us"}} if nic == "rail" else {}
    star = {"kind": "star", "hosts": 32, "rate": "1Gbps", "delay": "1us", "hosts_per_server": 4}
    resolved = topology.resolve(star | more, Findings("x"))
    assert resolved is not None
    drawn = resolved.network
    entry = {"kind": "collective", "nic": nic}
    entry["collectives"] = [{"name": "a", "operation": "all_to_all", "size": "1KB"}]
    scene = traffic.Scene(drawn, Path(), Path(), 10**9)
    table = traffic.resolve(entry, Findings("x"), (), scene)
    assert table is not None
    flows = traffic.flows([table], drawn, 1, 10**9)
    assert flows.nics is not None
    src, dst = flows.src[flows.nics.flows], flows.dst[flows.nics.flows]
    assert (drawn.servers[flows.nics.leaves] == drawn.servers[src]).all()
    assert (drawn.servers[flows.nics.arrives] == drawn.servers[dst]).all()
    assert (drawn.servers[src] != drawn.servers[dst]).all()
    if nic == "rail":
        assert (flows.nics.leaves % 4 == dst % 4).all()
        assert (flows.nics.arrives == dst).all()
        assert len(flows.nics) == 8 * 7 * 4 * 3, "all but those of one rail"
    else:
        counts = np.bincount(flows.nics.leaves % 4)
        assert counts.min() > 0.8 * counts.mean()
    on_network = flows.ends_on_network(drawn)
    assert ((on_network[0] == on_network[1]).sum() == 8 * 4 * 3) == (nic == "rail")


def test_ranks_are_placed_by_rail() -> None:
    """The first host of each server, then the second."""
    star = {"kind": "star", "hosts": 6, "rate": "1Gbps", "delay": "1us", "hosts_per_server": 2}
    resolved = topology.resolve(star, Findings("x"))
    assert resolved is not None
    scene = traffic.Scene(resolved.network, Path(), Path(), 10**9)
    entry = {"kind": "collective", "placement": "by_rail"}
    entry["collectives"] = [{"name": "a", "operation": "broadcast", "size": "1KB"}]
    table = traffic.resolve(entry, Findings("x"), (), scene)
    assert table is not None
    flows = traffic.flows([table], resolved.network, 1, 10**9)
    assert flows.src.tolist() == [0, 2, 4, 1, 3]
