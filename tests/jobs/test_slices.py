"""Collectives in channels and slices: what is sent, and when, against a model without packets."""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyorch.addons.jobs import slices
from pyorch.addons.jobs.collectives import ALGORITHMS, Call
from pyorch.base.findings import Findings
from pyorch.traffic import base as traffic
from tests.cli.test_end_to_end import run
from tests.star import ACK, DELAY, wire
from tests.strategies import network
from tests.traffic.test_traffic import WORKLOADS, resolve

CHOICES = sorted(which for which in ALGORITHMS if which[1] != "hierarchical")


@settings(max_examples=150, deadline=None)
@given(
    which=st.sampled_from(CHOICES),
    ranks=st.sampled_from([2, 4, 8]),
    size=st.integers(40, 3000),
    slicing=st.builds(
        slices.Slicing, st.integers(1, 3), st.sampled_from([7, 16, 64]), st.integers(3, 6)
    ),
)
def test_slices_carry_what_the_algorithm_sends(
    which: tuple[str, str], ranks: int, size: int, slicing: slices.Slicing
) -> None:
    """All bytes go, in slices that are short enough and in order, and nothing waits in a circle."""
    algorithm, call = ALGORITHMS[which], Call(ranks, size)
    made = slices.sliced(algorithm, call, slicing)
    number = made.leaving
    assert len(made) == slices.count(algorithm, call, slicing)
    assert made.sizes[:number].min() > 0
    assert (made.sizes[number:] == slices.CLEAR_BYTES).all()
    for one, other in ((made.src, made.dst), (made.dst, made.src)):
        assert (one[:number] == other[number:]).all()

    # the parts of channels and blocks differ by bytes, but not what each rank gives and takes
    whole = algorithm.make(call)
    rounding = len(whole) * slicing.channels * (2 + size // slicing.slice)
    for ends in ("src", "dst"):
        sent, usual = (
            np.bincount(getattr(one, ends)[:count], one.sizes[:count], ranks)
            for one, count in ((made, number), (whole, len(whole)))
        )
        assert np.abs(sent - usual).max() <= rounding

    after: dict[int, list[int]] = defaultdict(list)
    for waiter, awaited in zip(made.waiters.tolist(), made.after.tolist(), strict=True):
        after[waiter].append(awaited)
    tuple(TopologicalSorter(after).static_order())  # raises an error if there is a circle

    # a connection's slices leave in order, each after a clear-to-send message of its own
    connections: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for one in range(number):
        connections[int(made.src[one]), int(made.dst[one]), int(made.channels[one])].append(one)
        assert traffic.POINT + one in after[one]
        assert one + number in after[traffic.POINT + one]
    for leaving in connections.values():
        for before, behind in itertools.pairwise(leaving):
            assert traffic.POINT + before in after[traffic.POINT + behind]
        for place, one in enumerate(leaving):
            waits = after[number + one]
            assert bool(waits) == (place >= slicing.in_flight)


def test_loops_and_slices_are_those_of_nccl() -> None:
    """Two slices a chunk, at most the nominal one, at least a 32nd of it; a loop has all ranks."""
    ring = ALGORITHMS["all_reduce", "ring"]
    nominal = 1 << 20

    def of(size: int) -> list[int]:
        made = slices.sliced(ring, Call(4, size), slices.Slicing(1, nominal, 4))
        first = made.sizes[: made.leaving][made.src[: made.leaving] == 0]
        return [int(one) for one in first]

    assert of(8 * nominal) == [nominal] * 2 * 6  # one loop: 4 blocks of 2 slices, 6 steps
    assert of(16 * nominal) == [nominal] * 2 * 6 * 2  # two loops
    assert of(4 * 40_000) == [20_000] * 2 * 6  # half a chunk would be below 32 KiB: two slices
    assert of(4 * 30_000) == [30_000] * 6  # under 32 KiB: one slice


def test_channels_begin_with_other_ranks_of_each_server() -> None:
    """Between servers of two, channel 0 goes from rank 1 to 2, channel 1 from 0 to 3."""
    ring = ALGORITHMS["all_reduce", "ring"]
    made = slices.sliced(ring, Call(4, 4000, local=2), slices.Slicing(2, 1000, 4))
    pairs: list[set[tuple[int, int]]] = [set(), set()]
    for one in range(made.leaving):
        pairs[int(made.channels[one])].add((int(made.src[one]), int(made.dst[one])))
    assert pairs[0] == {(0, 1), (1, 2), (2, 3), (3, 0)}
    assert pairs[1] == {(1, 0), (0, 3), (3, 2), (2, 1)}


def test_the_tuned_algorithm_and_protocol_are_those_of_lesser_cost() -> None:
    """By hand: 32 servers of one rank at 400 Gb/s, S bytes at 50 kB a us."""
    # tree, LL128: 14 + 2 x 5 x 8.5 = 99 us + 2 / (0.92 x 120/128 x 0.9) S: 2.57649
    # ring, LL128: 14 + 62 x 8.5 = 541 us + 2 x 31/32 / 0.92 S: 2.10598
    # ring, simple: 1.4 (8.4 + 62 x 14) = 1226.96 us + 1.9375 S
    group = slices.Group(32, 32, 400 * 10**9)
    first = 442 / (2.57649 - 2.10598) * 50_000
    second = 685.96 / (2.10598 - 1.9375) * 50_000
    for size, most in (
        (first * 0.999, ("double_tree", "ll128")),
        (first * 1.001, ("ring", "ll128")),
        (second * 0.999, ("ring", "ll128")),
        (second * 1.001, ("ring", "simple")),
        (64, ("double_tree", "ll")),  # 6.8 + 50 us; LL128 takes 99
    ):
        assert slices.tuned(group, int(size)) == most
    # without lines that carry flags: 148.4 us + 2 / (0.92 x 0.8) S against 1226.96 us + 1.9375 S
    crossing = 1078.56 / (2.71739 - 1.9375) * 50_000
    for size, name in ((crossing * 0.999, "double_tree"), (crossing * 1.001, "ring")):
        assert slices.tuned(group, int(size), ["simple"]) == (name, "simple")
    # in a server: ring 14 + 14 x 1.9 + 1.75 / 0.92 S, tree 14 + 14 x 1.25 + 2 x 9/7 / 0.92 / 0.6 S
    inside = slices.Group(8, 1, 400 * 10**9)
    assert slices.tuned(inside, 10**6, ["ll128"]) == ("ring", "ll128")
    assert inside.ring(10**6, "ll128") == pytest.approx(40.6 + 20 * 1.75 / 0.92)
    tree = 31.5 + 20 * 2 * 9 / 7 / 0.92 / 0.6  # 8,192 x 64 B to 16,384 x 64 B
    assert inside.double_tree(10**6, "ll128") == pytest.approx(tree)


@pytest.mark.parametrize(
    ("protocol", "times", "most"),
    [("simple", 1, 64_000), ("ll", 2, 2 * 32 * 1024), ("ll128", 128 / 120, 68_352)],
)
def test_protocols_send_lines_with_flags(protocol: str, times: float, most: int) -> None:
    """More bytes than the data, in slices of one slot; messages that clear to send have none."""
    net = network(kind="star", hosts=4, rate="1Gbps")
    phase = {"name": "a", "operation": "all_reduce", "size": "2400000B", "algorithm": "ring"}
    for keys in ({}, {"slice": "64000B"}):
        entry = {"kind": "collective", "collectives": [phase | keys | {"protocol": protocol}]}
        model: Any = resolve(entry, net)[0]
        flows = traffic.flows([model], net, 1, 10**9)
        data = flows.sizes[flows.sizes != slices.CLEAR_BYTES]
        assert data.sum() == pytest.approx(2 * 3 * 2_400_000 * times, rel=2e-3)
        assert "slice" not in keys or data.max() <= most
        assert model.collectives[0].count(4) == len(flows)


@pytest.mark.parametrize(
    ("keys", "local"),
    [
        ({"hosts": "h0..h5"}, None),  # one and a half servers
        ({"group_size": 2, "stride": 4}, None),
        ({"hosts": ["h0", "h1", "h4", "h5"]}, 2),  # halves of two servers
        ({"hosts": ["h0", "h1", "h4", "h2"]}, None),  # the first server goes on behind the second
        ({"hosts": ["h0", "h4", "h1", "h5"]}, None),
        ({"hosts": "h1..h3"}, 3),
        ({"group_size": 2}, 2),
        ({}, 4),
    ],
)
def test_servers_are_those_that_ranks_have(keys: dict[str, Any], local: int | None) -> None:
    """Of two servers of four hosts each: how many ranks in a row share one, if all do alike."""
    net = network(
        kind="leaf_spine", leaves=2, spines=1, hosts_per_leaf=4, hosts_per_server=4, rate="1Gbps"
    )
    phase = {"name": "a", "operation": "all_reduce", "size": "1MB", "slice": "8KiB", **keys}
    form, told = resolve({"kind": "collective", "collectives": [phase | {"channels": 2}]}, net)
    assert not told
    model: Any = form
    assert model.collectives[0].local == local
    ranks = len(model.collectives[0].hosts)
    assert len(traffic.flows([model], net, 1, 10**9)) == model.collectives[0].count(ranks)


def test_servers_follow_the_placement() -> None:
    """Scattered ranks have the next ones in other servers; random ones are not known."""
    net = network(
        kind="leaf_spine", leaves=2, spines=1, hosts_per_leaf=4, hosts_per_server=4, rate="1Gbps"
    )
    phase = {"name": "a", "operation": "all_reduce", "size": "1MB", "slice": "8KiB", "channels": 2}
    for placement, local in (("listed", 4), ("scattered", None), ("random", None)):
        entry = {"kind": "collective", "placement": placement, "collectives": [phase]}
        model: Any = resolve(entry, net)[0]
        assert model.collectives[0].local == local, placement
    entry["collectives"] = [{**phase, "algorithm": "hierarchical"}]
    _, told = resolve(entry, net)
    assert "give 'local'" in told[0]


def test_what_was_written_is_named_when_servers_do_not_fit() -> None:
    """The size of a group, or hosts; never a `local` that only the topology has."""
    net = network(
        kind="leaf_spine", leaves=2, spines=1, hosts_per_leaf=4, hosts_per_server=4, rate="1Gbps"
    )
    for keys, place in (({"group_size": 2}, "group_size"), ({"hosts": "h0..h5"}, "hosts")):
        phase = {"name": "a", "operation": "all_reduce", "size": "1MB", **keys}
        phase["algorithm"] = "hierarchical"
        _, (told,) = resolve({"kind": "collective", "collectives": [phase]}, net)
        assert f"collectives.0.{place}" in told or f"collectives[0].{place}" in told, told


@pytest.mark.parametrize("hosts", ["h0..h3", "all", ["leaf0:*", "h4"]])
def test_tuned_knows_patterns_of_hosts(hosts: Any) -> None:
    """As for hosts that are listed one by one."""
    net = network(
        kind="leaf_spine", leaves=2, spines=1, hosts_per_leaf=4, hosts_per_server=4, rate="1Gbps"
    )
    phase = {"name": "a", "operation": "all_reduce", "size": "1KB", "algorithm": "tuned"}
    form, told = resolve({"kind": "collective", "collectives": [phase | {"hosts": hosts}]}, net)
    assert not told
    model: Any = form
    assert model.collectives[0].algorithm in ("ring", "double_tree")
    assert model.collectives[0].protocol == "ll"  # little data: the latency decides


def test_tuned_is_offered_where_there_is_a_choice() -> None:
    """Operations with one algorithm in NCCL have none to choose."""
    told = problems_of(operation="all_gather", algorithm="tuned")
    assert "unknown algorithm of all_gather 'tuned'" in told
    assert "ring" in told.partition("allowed")[2]
    assert "tuned" not in told.partition("allowed")[2]
    assert "tuned" in problems_of(algorithm="x").partition("allowed")[2]


def test_too_many_slices_are_refused_before_they_are_made() -> None:
    """A billion slices are counted by a formula."""
    begin = process_time()
    told = problems_of(size="1GB", slice="1B")
    assert "messages" in told
    assert "at most 5000000" in told
    assert process_time() - begin < 1


def problems_of(**keys: Any) -> str:
    """What is said of a collective in slices."""
    phase = {"name": "a", "operation": "all_reduce", "size": "1MB"} | keys
    findings = Findings("x.toml")
    scene = traffic.Scene(network(kind="star", hosts=4), WORKLOADS, WORKLOADS, 10**9)
    traffic.resolve({"kind": "collective", "collectives": [phase]}, findings, ("traffic",), scene)
    return "\n".join(problem.render() for problem in findings.problems)


def test_what_belongs_to_slices_is_said() -> None:
    """Keys without `slice`, pieces of another kind, and too few under way."""
    assert not problems_of(slice="32KiB", channels=2, in_flight=3, step_cost="1us")
    for key, value in (("channels", 2), ("in_flight", 4), ("step_cost", "1us")):
        assert "give 'slice', too" in problems_of(**{key: value})
    assert "no 'chunks'" in problems_of(slice="32KiB", chunks=2)
    assert "at least 3" in problems_of(slice="32KiB", in_flight=2)
    assert "groups of 4 ranks in servers of 3" in problems_of(slice="32KiB", channels=2, local=3)


# ---------------------------------------------------------------------------------------------
# The real simulator, and when slices leave by the rules alone

STUDY = """
title = "slices on a star"
port.pause_response = "ideal"
[run]
duration = "1ms"
drain = "1s"
stop_when_done = true
[topology]
kind = "star"
hosts = 8
rate = "100Gbps"
delay = "1us"
[queue_pair]
ack_every = 1000000
[[traffic]]
kind = "collective"
label = "job"
collectives = [{ ONE }]
[[metric]]
name = "whole"
kind = "collective_time"
traffic = "job"
"""


def across(size: int) -> int:
    """Time of a message alone [ps]."""
    return wire(size)[0] + sum(wire(size)) + 2 * DELAY


def ring_time(  # noqa: C901 (what a ring depends on, and its rules)
    ranks: int, size: int, slice_: int, in_flight: int, cost: int, reduction: int
) -> int:
    """When a ring of one channel has ended [ps]: the latest of what each slice waits for."""
    steps = 2 * (ranks - 1)
    order: list[tuple[int, int, int]] = []  # (step, number of slices of the step, bytes)
    most = 2 * slice_ * ranks
    left = size
    while left > 0:
        loop = min(left, most)
        block = loop // ranks
        piece = max(-(-block // 2), slice_ // 32)
        number = -(-block // piece)
        order += [(step, number, block // number) for step in range(steps) for _ in range(number)]
        left -= loop

    @cache
    def leaves(rank: int, at: int) -> int:
        step, number, _ = order[at]
        times = [clear(rank, at) + cost]
        if at > 0:
            times.append(leaves(rank, at - 1))
        if step > 0:
            times.append(arrives((rank - 1) % ranks, at - number) + reduction)
        return max(times)

    @cache
    def sent(rank: int, at: int) -> int:
        before = sent(rank, at - 1) if at > 0 else 0
        return max(leaves(rank, at), before) + sum(wire(order[at][2]))

    def arrives(rank: int, at: int) -> int:
        return sent(rank, at) + wire(order[at][2])[0] + 2 * DELAY

    def clear(rank: int, at: int) -> int:
        room = at - in_flight
        if room < 0:
            return across(slices.CLEAR_BYTES)
        step, number, _ = order[room]
        taken = (
            leaves((rank + 1) % ranks, room + number) if step + 1 < steps else arrives(rank, room)
        )
        return taken + across(slices.CLEAR_BYTES)

    for at in range(len(order)):  # so that no call goes deep
        for rank in range(ranks):
            leaves(rank, at), sent(rank, at)
    return max(arrives(rank, len(order) - 1) for rank in range(ranks))


CASES = {
    "link": {"ranks": 4, "size": 8_000_000, "slice": 100_000, "cost": 1, "pause": 0},
    "slots": {"ranks": 4, "size": 1_600_000, "slice": 10_000, "cost": 12, "pause": 0},
    "reduction": {"ranks": 8, "size": 3_200_000, "slice": 50_000, "cost": 2, "pause": 5},
    "rest": {"ranks": 5, "size": 1_234_000, "slice": 64_000, "cost": 3, "pause": 0},
}


def text_of(one: dict[str, Any]) -> str:
    """A collective as it stands in a file."""
    return ", ".join(f"{key} = {json.dumps(value)}" for key, value in one.items())


@pytest.mark.cpp
def test_times_are_those_of_a_model_without_packets(tmp_path: Path) -> None:
    """Within 2 %: frames of clear-to-send messages and of data wait for each other."""
    ring = {"name": "one", "operation": "all_reduce", "algorithm": "ring", "size": "1MB"}
    text, expected = STUDY.replace("ONE", text_of(ring)), {}
    for name, keys in CASES.items():
        one = ring | {"size": f"{keys['size']}B", "slice": f"{keys['slice']}B"}
        one |= {"step_cost": f"{keys['cost']}us", "step_delay": f"{keys['pause']}us"}
        one["hosts"] = f"h0..h{keys['ranks'] - 1}"
        text += f"[variants.{name}]\ntraffic.job.collectives = [{{ {text_of(one)} }}]\n"
        times = (keys["cost"] * 10**6, keys["pause"] * 10**6)
        expected[name] = ring_time(keys["ranks"], keys["size"], keys["slice"], 4, *times)
    done, results = run(tmp_path, text)
    assert done.returncode == 0, done.stdout + done.stderr
    (file,) = results.rglob("runs.parquet")
    table = pd.read_parquet(file).set_index("variant")
    for name, time in expected.items():
        assert table.whole[name] == pytest.approx(time, rel=0.02), name


@pytest.mark.cpp
def test_throughput_is_that_of_the_slots(tmp_path: Path) -> None:
    """Between two ranks: in_flight slices each loop time, or the link, whichever is less."""
    size, piece = 2_000_000, 20_000
    one = {"name": "one", "operation": "broadcast", "algorithm": "chain", "size": f"{size}B"}
    one |= {"slice": f"{piece}B", "hosts": "h0..h1", "step_cost": "20us"}
    text = STUDY.replace("ONE", text_of(one))
    text += '[sweep]\n"traffic.job.collectives.one.in_flight" = [2, 4, 8, 16]\n'
    done, results = run(tmp_path, text)
    assert done.returncode == 0, done.stdout + done.stderr
    (file,) = results.rglob("runs.parquet")
    table = pd.read_parquet(file)
    (key,) = (column for column in table.columns if column.endswith("in_flight"))
    loop = across(piece) + ACK + across(slices.CLEAR_BYTES) + 20 * 10**6
    for in_flight, time in zip(table[key], table.whole, strict=True):
        rate = min(in_flight * piece / loop, piece / sum(wire(piece)))
        assert time == pytest.approx(size / rate, abs=loop), in_flight  # of the first and the last
