"""Collective traffic: what is moved, what waits for what, the file, and times in closed form."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyorch.addons.jobs import collectives
from pyorch.addons.jobs.collectives import ALGORITHMS, Call, Transfers, transfers_of
from pyorch.metrics import RunTables, parse
from pyorch.traffic import base as traffic
from tests.cli.test_end_to_end import run
from tests.forms import setting_of
from tests.strategies import load, network
from tests.traffic.test_traffic import MS, STAR, make, resolve

RANKS = st.integers(2, 17)
SIZES = st.integers(17, 100_000)


def made(operation: str, name: str, ranks: int, size: int, **more: Any) -> Transfers:
    """The transfers of an algorithm."""
    return ALGORITHMS[operation, name].make(Call(ranks, size, **more))


def call_for(named: tuple[str, str], ranks: int, size: int) -> Call:
    """A call that an algorithm does not refuse, of about so many ranks."""
    call = Call(ranks, size, local=2)
    if ALGORITHMS[named].refuses(call):
        call = Call(1 << (ranks - 1).bit_length(), size, local=2)
    if ALGORITHMS[named].refuses(call):
        call = Call(2 * ranks, size, local=2)
    assert ALGORITHMS[named].refuses(call) is None
    return call


def known_to(transfers: Transfers, ranks: int) -> list[set[int]]:
    """Whose data each transfer carries: its sender's own, and what it has waited for."""
    waits: dict[int, list[int]] = {number: [] for number in range(len(transfers))}
    for waiter, after in zip(transfers.waiters.tolist(), transfers.after.tolist(), strict=True):
        ends = (transfers.dst[after], transfers.src[after])
        assert transfers.src[waiter] in ends, "a rank waits for what it receives, or sent before"
        waits[waiter].append(after)
    carried: list[set[int]] = [set() for _ in range(len(transfers))]
    for number in TopologicalSorter(waits).static_order():
        carried[number] = {int(transfers.src[number])}.union(*(carried[n] for n in waits[number]))
    assert all(rank in range(ranks) for found in carried for rank in found)
    return carried


ALL_REDUCE = [named for named in ALGORITHMS if named[0] == "all_reduce"]


@given(RANKS, SIZES, st.sampled_from(ALL_REDUCE))
def test_an_all_reduce_brings_everyone_the_sum_over_everyone(
    ranks: int, size: int, named: tuple[str, str]
) -> None:
    """Every rank receives `size` bytes or less that hold the data of all ranks.

    The inner ranks of a tree add themselves; what a rank receives and what it adds holds all.
    """
    call = call_for(named, ranks, size)
    transfers = ALGORITHMS[named].make(call)
    everyone = set(range(call.ranks))
    # less is impossible: 2(n-1) transfers of each byte
    if named[1] != "hierarchical":
        assert transfers.sizes.sum() == 2 * (call.ranks - 1) * call.size
    carried = known_to(transfers, call.ranks)
    whole = np.zeros(call.ranks, dtype=np.int64)
    for number, found in enumerate(carried):
        rank = int(transfers.dst[number])
        whole[rank] += transfers.sizes[number] * (found | {rank} == everyone)
    # a root adds itself; a rank that holds the sum of a block itself is not sent it
    roots = {"tree": 1, "double_tree": 2}.get(named[1], 0)
    held = {"halving_doubling": call.ranks, "hierarchical": call.local}.get(named[1])
    own = -(-call.size // held) if held else 0
    assert (np.sort(whole)[roots:] >= call.size - own).all()
    assert (whole <= call.size).all()


@given(RANKS, SIZES)
def test_two_trees_share_the_work(ranks: int, size: int) -> None:
    """Both are binary and reach every rank, and only one rank is inside both."""
    parents = collectives.two_trees(ranks)
    inner = []
    for parent in parents:
        (root,) = np.flatnonzero(parent < 0)
        for rank in range(ranks):  # everyone comes to the root
            steps = 0
            while rank != root:
                rank, steps = int(parent[rank]), steps + 1  # noqa: PLW2901
                assert steps < ranks
        children = np.bincount(parent[parent >= 0], minlength=ranks)
        assert children.max() <= 2
        inner.append(set(np.flatnonzero(children).tolist()))
    assert not inner[0] & inner[1]
    sent = np.bincount(
        (t := made("all_reduce", "double_tree", ranks, size)).src, t.sizes, minlength=ranks
    )
    assert sent.max() <= 2 * size + 2  # no rank sends more than in a ring, except one byte per half


@given(RANKS, SIZES)
def test_the_halves_of_a_ring_move_all_blocks_but_one(ranks: int, size: int) -> None:
    """Reduce-scatter and all-gather: n-1 blocks leave each rank; together they are all-reduce."""
    halves = [
        made(operation, "ring", ranks, size) for operation in ("reduce_scatter", "all_gather")
    ]
    for half in halves:
        sent = np.bincount(half.src, weights=half.sizes, minlength=ranks)
        blocks = collectives.blocks(size, ranks)
        assert blocks.sum() == size
        assert np.ptp(blocks) <= 1
        # rank i sends the blocks i, i-1, ..., i-n+2: all but block i+1
        assert sent.tolist() == [size - blocks[(rank + 1) % ranks] for rank in range(ranks)]
    gathered = np.bincount(halves[1].dst, weights=halves[1].sizes, minlength=ranks)
    own = collectives.blocks(size, ranks)
    assert (gathered + own == size).all()
    whole = made("all_reduce", "ring", ranks, size)
    assert whole.sizes.sum() == sum(half.sizes.sum() for half in halves)


@given(RANKS, SIZES, st.sampled_from(["direct", "pairwise"]))
def test_an_all_to_all_moves_each_block_once(ranks: int, size: int, name: str) -> None:
    """Rank i sends block j to rank j only; in `pairwise` each round is a shift."""
    transfers = made("all_to_all", name, ranks, size)
    known_to(transfers, ranks)
    ends = set(zip(transfers.src.tolist(), transfers.dst.tolist(), strict=True))
    assert ends == {(i, j) for i in range(ranks) for j in range(ranks) if i != j}
    assert len(ends) == len(transfers)
    assert (transfers.sizes == collectives.blocks(size, ranks)[transfers.dst]).all()
    waiting = 0 if name == "direct" else ranks * (ranks - 2)
    assert len(transfers.waiters) == waiting


@given(st.sampled_from(list(ALGORITHMS)), RANKS, SIZES)
def test_what_is_said_of_an_algorithm_is_what_it_makes(
    named: tuple[str, str], ranks: int, size: int
) -> None:
    """Limits are checked by these numbers before the transfers are made."""
    algorithm = ALGORITHMS[named]
    call = call_for(named, ranks, size)
    transfers = algorithm.make(call)
    assert len(transfers) == algorithm.count(call)
    assert len(transfers) - len(set(transfers.waiters.tolist())) == algorithm.first(call)
    known_to(transfers, call.ranks)
    least = algorithm.make(replace(call, size=algorithm.parts(call)))
    assert least.sizes.min() >= 1
    for chunks in (1, 3):
        cut = transfers_of(algorithm, replace(call, size=size + 3 * call.ranks), chunks)
        assert len(cut) == chunks * len(transfers)
        assert cut.sizes.sum() * call.size == pytest.approx(
            transfers.sizes.sum() * (size + 3 * call.ranks), rel=0.5
        )


# ---------------------------------------------------------------------------------------------
# The kind of traffic

PHASES = [
    {"name": "gather", "operation": "all_gather", "size": "6KB", "step_delay": "1us"},
    {
        "name": "swap",
        "operation": "all_to_all",
        "size": "6KB",
        "hosts": "h0..h2",
        "after": ["gather"],
        "delay": "5us",
    },
]


def edges(flows: traffic.Flows) -> set[tuple[int, int, int]]:
    """Which flow waits for which, through points, and how long after."""
    waits = flows.waits
    assert waits is not None
    direct: dict[int, list[tuple[int, int]]] = {}
    columns = (waits.flows.tolist(), waits.after.tolist(), waits.delays.tolist())
    for waiter, after, delay in zip(*columns, strict=True):
        direct.setdefault(waiter, []).append((after, delay))

    def through(node: int) -> set[tuple[int, int]]:
        found = set()
        for after, delay in direct.get(node, ()):
            if after < traffic.POINT:
                found.add((after, delay))
            else:
                found |= {(one, more + delay) for one, more in through(after)}
        return found

    return {(n, after, delay) for n in range(len(flows)) for after, delay in through(n)}


def test_collectives_of_a_file_are_those_of_the_entry(tmp_path: Path) -> None:
    """TOML and JSON give one canonical form, which holds the content and not the file's name."""
    (tmp_path / "job.json").write_text(json.dumps({"collective": PHASES, "repeat": 2}))
    lines = "repeat = 2\n"
    for phase in PHASES:
        lines += "[[collective]]\n" + "".join(f"{k} = {json.dumps(v)}\n" for k, v in phase.items())
    (tmp_path / "job.toml").write_text(lines)
    inline = resolve({"kind": "collective", "collectives": PHASES, "repeat": 2})
    assert inline[1] == []
    for name in ("job.json", "job.toml"):
        assert resolve({"kind": "collective", "file": name}, folder=tmp_path) == inline


def test_a_collective_waits_for_what_its_ranks_received_before() -> None:
    """Ranks of `swap` wait for their part of `gather`, and the second round for the first."""
    before = {"kind": "permutation", "size": "1KB", "shift": 1}
    entry = {"kind": "collective", "collectives": PHASES, "repeat": 2, "start": "3us"}
    forms = [resolve(e)[0] for e in (before, entry)]
    flows = traffic.flows([form for form in forms if form], STAR, 1, MS)
    gather, swap, ranks = 5 * 6, 3 * 2, 6
    assert len(flows) == 6 + 2 * (gather + swap)
    found = edges(flows)
    first = 6
    second = first + gather + swap
    # inside the ring: rank 2 in step 1 waits for rank 1 in step 0
    assert (first + ranks + 2, first + 1, 10**6) in found
    # h1 in `swap` waits for all it received in `gather`
    from_one = [n for n in range(first + gather, second) if flows.src[n] == 1]
    into_one = [n for n in range(first, first + gather) if flows.dst[n] == 1]
    waited = {(a, b, d) for a, b, d in found if a in from_one}
    assert waited == {(a, b, 5 * 10**6) for a in from_one for b in into_one}
    # in the second round h1 waits for its part of `swap`; h5, which has none, for all of it
    swapped = range(first + gather, second)
    # which does not end before it has begun, and so not before `gather`
    gathered = range(first, first + gather)
    for host, part, hosts in (
        (1, {n for n in swapped if flows.dst[n] == 1}, {1}),
        (5, set(swapped), {0, 1, 2}),
    ):
        before_it = {n for n in gathered if flows.dst[n] in hosts}
        assert {b for a, b, _ in found if a == second + host} == part | before_it
    assert (flows.starts[first:] == 3 * 10**6).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"operation": "all_reduse"},
            (
                "job.json: collective[0].operation: unknown operation 'all_reduse'\n"
                "    allowed: all_reduce, reduce_scatter, all_gather, broadcast, all_to_all\n"
                "    hint: did you mean 'all_reduce'?"
            ),
        ),
        (
            {"algorithm": "tree"},
            (
                "job.json: collective[0].algorithm: unknown algorithm of all_gather 'tree'\n"
                "    allowed: ring, doubling"
            ),
        ),
        (
            {"hosts": ["h0", "h9"]},
            ("job.json: collective[0].hosts: there is no host 'h9'\n    allowed: hosts h0 to h5"),
        ),
        (
            {"size": "5B"},
            (
                "job.json: collective[0].size: 5 B in 6 parts\n"
                "    allowed: at least a byte for each part"
            ),
        ),
        (
            {"after": ["swap"]},
            "job.json: collective[0].after: collectives wait for each other in a cycle",
        ),
        (
            {"after": ["swap", "swap"]},
            (
                "job.json: collective[0].after: a collective is listed twice\n"
                "    allowed: each name once"
            ),
        ),
        (
            {"after": ["swop"]},
            (
                "job.json: collective[0].after: unknown collective 'swop'\n"
                "    allowed: gather, swap\n    hint: did you mean 'swap'?"
            ),
        ),
        (
            {"name": "swap", "after": []},
            "job.json: collective[1].name: 'swap' appears twice\n    allowed: each name once",
        ),
    ],
)
def test_what_is_wrong_with_a_file_is_told_with_its_place(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    """The message names the file, the collective, the key, and what is allowed."""
    job = {"collective": [PHASES[0] | change, PHASES[1]]}
    (tmp_path / "job.json").write_text(json.dumps(job))
    form, told = resolve({"kind": "collective", "file": "job.json"}, folder=tmp_path)
    assert form is None
    assert message in told


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    """Syntax errors have line and column."""
    (tmp_path / "bad.json").write_text('{"collective": [\n  {"name": }]}')
    (tmp_path / "bad.toml").write_text("repeat = \n")
    (tmp_path / "job.yaml").write_text("")
    cases: dict[str, str] = {
        "bad.json": "bad.json, line 2, column 12: Expecting value",
        "bad.toml": "bad.toml, line 1, column 10: Invalid value",
        "job.yaml": "x.toml: traffic[0].file: 'job.yaml' is neither TOML nor JSON",
        "none.json": "x.toml: traffic[0].file: there is no file 'none.json' next to the experiment",
    }
    for name, message in cases.items():
        _, told = resolve({"kind": "collective", "file": name}, folder=tmp_path)
        assert len(told) == 1
        assert told[0].startswith(message)


def test_messages_wait_for_messages(tmp_path: Path) -> None:
    """`id`, `after` and `delay` of a CSV file become edges; problems are reported by cell."""
    (tmp_path / "m.csv").write_text(
        "src,dst,size,start,id,after,delay\n"
        "h0,h1,1KB,1us,a,,\n"
        "h1,h2,1KB,,b,a,2us\n"
        "h2,h3,1KB,,,a b,\n"
    )
    form, told = resolve({"kind": "messages", "file": "m.csv", "start": "7us"}, folder=tmp_path)
    assert told == []
    assert form is not None
    flows = traffic.flows([form], STAR, 1, MS)
    assert flows.starts.tolist() == [10**6, 7 * 10**6, 7 * 10**6]
    assert edges(flows) == {(1, 0, 2 * 10**6), (2, 0, 0), (2, 1, 0)}
    (tmp_path / "m.csv").write_text(
        "src,dst,size,id,after,delay\nh0,h7,1KB,a,c,\nh1,h2,1KB,b,b,\nh2,h3,1KB,a,,1us\n"
    )
    _, told = resolve({"kind": "messages", "file": "m.csv"}, folder=tmp_path)
    assert told == [
        ("m.csv: line 2: dst: there is no host 'h7'\n    allowed: hosts h0 to h5"),
        "m.csv: line 4: id: 'a' appears twice\n    allowed: each id once",
        "m.csv: line 2: after: there is no message with the id 'c'\n    allowed: a, b",
        "m.csv: line 4: delay: 'delay' without 'after'\n    allowed: together with 'after'",
        "m.csv: line 3: after: messages wait for each other in a cycle",
    ]


@settings(max_examples=20)
@given(st.integers(4, 6), st.integers(1, 4), st.sampled_from(sorted(ALGORITHMS)))
def test_every_flow_of_a_collective_can_start(hosts: int, rounds: int, which: Any) -> None:
    """Nothing waits in a circle, and only those that wait for nothing start by themselves."""
    operation, algorithm = which
    phase: dict[str, Any] = {"operation": operation, "algorithm": algorithm, "size": "60B"}
    call = call_for(which, hosts // 2, 60)
    hosts = call.ranks
    if "local" in ALGORITHMS[which].reads:
        phase["local"] = call.local
    phase["hosts"] = [f"h{number}" for number in range(hosts)]
    phases = [phase | {"name": "one"}, phase | {"name": "two", "after": ["one"]}]
    flows = make({"kind": "collective", "collectives": phases, "repeat": rounds})
    after: list[list[int]] = [[] for _ in range(len(flows))]
    for waiter, other, _ in edges(flows):
        after[waiter].append(other)
    assert traffic.first_in_circle(after) is None
    length = len(flows) // rounds
    free = [number for number, others in enumerate(after) if not others]
    assert free
    assert max(free) < length // 2


def test_a_metric_names_traffic_that_exists(tmp_path: Path) -> None:
    """A misspelt label or collective is reported before anything runs."""
    text = """
title = "?"
run.duration = "1ms"
topology = { kind = "star", hosts = 4, rate = "10Gbps", delay = "1us" }
[[traffic]]
kind = "collective"
connection = "message"
label = "job"
collectives = [{ name = "sum", operation = "all_reduce", size = "4KB" }]
[[metric]]
name = "time"
kind = "collective_time"
traffic = "job"
collective = "sum"
"""
    assert load(tmp_path, text).metrics[0].collective == "sum"
    for old, new, message in (
        ('traffic = "job"', 'traffic = "jib"', "unknown [[traffic]] entry 'jib'"),
        ('collective = "sum"', 'collective = "som"', "unknown collective 'som'"),
    ):
        with pytest.raises(Exception, match=r"metric\[0\]") as told:
            load(tmp_path, text.replace(old, new))
        assert message in str(told.value)
    for chosen in ('kind = "cdf"\ntraffic = ["job", "jib"]', 'kind = "lost"\ntraffic = "jib"'):
        with pytest.raises(Exception, match=r"figure\[0\].*unknown \[\[traffic\]\] entry 'jib'"):
            load(tmp_path, f'{text}[[figure]]\nname = "f"\n{chosen}\n')


@pytest.mark.cpp
def test_metrics_of_flows_choose_entries_of_traffic() -> None:
    """By label; what did not arrive makes a collective endless, and what never began counts."""
    before = resolve({"kind": "permutation", "size": "1KB", "shift": 1, "label": "other"})[0]
    job = resolve({"kind": "collective", "collectives": PHASES, "label": "job"})[0]
    star = {"kind": "star", "hosts": 6, "rate_bps": 10**10, "delay_ps": 10**6}
    setting = replace(setting_of({"topology": star}), traffic=[before, job])
    starts = np.concatenate([np.full(6, 7), np.full(30, 100), np.full(6, 400)])
    table = {"start_ps": starts, "finish_ps": starts + 50, "ideal_ps": np.full(42, 25)}
    table |= {"size_bytes": np.full(42, 1000)}
    summary = {"end_ps": float(MS)}

    def value(**entry: Any) -> float | None:
        run = RunTables(setting, 1, [*STAR.names], summary, {"flow": table})
        return parse({"name": "m", **entry}).value(run)

    assert value(kind="collective_time", traffic="job") == 350
    assert value(kind="collective_time", traffic="job", collective="swap") == 50
    assert value(kind="collective_time", traffic="other") == 50
    assert value(kind="fct", traffic=["other"]) == 50
    table["finish_ps"][10] = -1
    assert value(kind="collective_time", traffic="job", collective="gather") == np.inf
    assert value(kind="collective_time", traffic="job", collective="swap") == 50
    table["start_ps"][10] = -1
    assert value(kind="fct", traffic=["job"]) == np.inf


def test_numbers_that_no_run_can_have_are_refused(tmp_path: Path) -> None:
    """In a CSV file as in the experiment: with the line and the column."""
    huge = "9" * 30
    (tmp_path / "m.csv").write_text(f"src,dst,size,start\nh0,h1,{huge},0\nh0,h1,1,{huge}\n")
    _, told = resolve({"kind": "messages", "file": "m.csv"}, folder=tmp_path)
    assert "line 2: size" in told[0]
    assert "line 3: start" in told[1]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("[" * 100_000, "nested more than 32 deep"),
        ('{"repeat": ' + "9" * 5000 + "}", "digits"),
        ('{"repeat": 1, "repeat": 2}', "'repeat' is given twice"),
    ],
)
def test_what_no_json_may_be_is_told(tmp_path: Path, text: str, what: str) -> None:
    """Whatever is wrong with the JSON."""
    (tmp_path / "job.json").write_text(text)
    _, told = resolve({"kind": "collective", "file": "job.json"}, folder=tmp_path)
    assert len(told) == 1
    assert what in told[0]


def test_what_is_too_much_is_counted_by_hosts_that_take_part() -> None:
    """Not by all there are; an algorithm that is not named counts as its default."""
    assert resolve({"kind": "collective", "collectives": []})[1]
    ring = {"name": "a", "operation": "all_reduce", "size": "1KB", "hosts": "h0..h1"}
    assert resolve({"kind": "collective", "collectives": [ring], "repeat": 100_000})[0]
    whole = ring | {"hosts": "h0..h4"}  # 2 x 4 x 5 messages each
    _, told = resolve({"kind": "collective", "collectives": [whole] * 1, "repeat": 100_000})
    assert not told
    many = [whole | {"name": f"a{n}"} for n in range(2)]
    _, told = resolve({"kind": "collective", "collectives": many, "repeat": 100_000})
    assert "8000000 messages" in told[0]


STAGES = """
kind = "collective"
label = "pipeline"

[[collectives]]
name = "forward"
operation = "broadcast"
size = "2MB"
group_size = 2
stride = 4
delay = "50us"

[[collectives]]
name = "backward"
operation = "broadcast"
size = "2MB"
hosts = ["h4..h7", "h0..h3"]
group_size = 2
stride = 4
after = ["forward"]
delay = "100us"

[[collectives]]
name = "state"
operation = "broadcast"
size = "64KB"
hosts = ["h3", "h4"]
after = ["backward"]
"""


def test_a_stage_sends_to_the_next() -> None:
    """Broadcasts of two ranks: four messages forward, four back, then one."""
    star = network(kind="star", hosts=8, rate="100Gbps", delay="1us")
    flows = make(tomllib.loads(STAGES), star)
    ends = list(zip(flows.src.tolist(), flows.dst.tolist(), strict=True))
    forward = [(0, 4), (1, 5), (2, 6), (3, 7)]
    assert ends == [*forward, *((dst, src) for src, dst in forward), (3, 4)]
    us = 10**6
    back = {(4 + number, number, 100 * us) for number in range(4)}
    # h3 waits for its part of `backward`, which does not end before it has begun
    assert edges(flows) == back | {(8, 7, 0), (8, 3, 100 * us)}
    assert flows.starts[:4].tolist() == [50 * us] * 4


# ---------------------------------------------------------------------------------------------
# Closed forms, with the real simulator

#: An idle star: packets of 1000 B, an ACK a message.
IDEAL = """
title = "collectives on an ideal star"
port.pause_response = "ideal"
[run]
duration = "1ms"
stop_when_done = true
[topology]
kind = "star"
hosts = 5
rate = "100Gbps"
delay = "1us"
[queue_pair]
ack_every = 1000000
[[traffic]]
kind = "collective"
connection = "message"
label = "job"
collectives = [
  { name = "first", operation = "all_reduce", algorithm = "ring", size = "50KB" },
  { name = "second", operation = "all_reduce", size = "50KB", after = ["first"], delay = "7us" },
]
[[metric]]
name = "whole"
kind = "collective_time"
traffic = "job"
[[metric]]
name = "first"
kind = "collective_time"
traffic = "job"
collective = "first"
"""

PACKET = 1068 * 80  # payload, headers, preamble and gap [ps at 100 Gb/s]
ACK = 84 * 80
DELAY = 10**6
PAUSE = 3 * 10**6


def across(packets: int) -> int:
    """Time for so many packets over the two links of a star [ps]."""
    return (packets + 1) * PACKET + 2 * DELAY


#: Variant: operation, algorithm, hosts, size [KB], pause between steps [us], and the time of one
#: collective of 10 packets a block [ps]. Without a pause a host's ACK goes before what it sends.
CLOSED = {
    "ring": ("all_reduce", "ring", 5, 50, 3, 8 * across(10) + 7 * PAUSE),
    "eager": ("all_reduce", "ring", 5, 50, 0, 8 * across(10) + 7 * ACK),
    "gather": ("all_gather", "ring", 5, 50, 3, 4 * across(10) + 3 * PAUSE),
    "scatter": ("reduce_scatter", "ring", 4, 40, 3, 3 * across(10) + 2 * PAUSE),
    "tree": ("all_reduce", "tree", 3, 30, 3, 2 * across(2 * 30) + PAUSE),
    "direct": ("all_to_all", "direct", 5, 50, 3, across(4 * 10)),
    "pairwise": ("all_to_all", "pairwise", 5, 50, 3, 4 * across(10) + 3 * PAUSE),
}


US = 10**6
#: Variant: keys of the entry, keys of the collective, and the time of one [ps]; the same star.
SINGLE: dict[str, tuple[dict[str, Any], dict[str, Any], int]] = {
    "halving-doubling": (
        {},
        {"operation": "all_reduce", "algorithm": "halving_doubling", "hosts": "h0..h3"},
        2 * (across(20) + across(10)) + 3 * PAUSE,
    ),
    "halving": (
        {},
        {"operation": "reduce_scatter", "algorithm": "halving", "hosts": "h0..h3"},
        across(20) + across(10) + PAUSE,
    ),
    "doubling": (
        {},
        {"operation": "all_gather", "algorithm": "doubling", "hosts": "h1..h4"},
        across(20) + across(10) + PAUSE,
    ),
    # 2(g-1) steps of S/g, 2(m-1) of S/(g m)
    "hierarchical": (
        {},
        {"operation": "all_reduce", "algorithm": "hierarchical", "local": 2, "hosts": "h0..h3"},
        2 * across(20) + 2 * across(10) + 3 * PAUSE,
    ),
    # of four ranks: two sons send up to their father in each tree, he up, and the same down
    "double-tree": (
        {},
        {"operation": "all_reduce", "algorithm": "double_tree", "hosts": "h0..h3"},
        2 * across(40) + 2 * across(20) + 3 * PAUSE,
    ),
    # n + k - 2 chunks follow each other, and n - 2 ranks pass on
    "chain": (
        {},
        {"operation": "broadcast", "algorithm": "chain", "chunks": 4, "step_delay": "1us"},
        7 * across(10) + 3 * US,
    ),
    # two rounds, in the second of which both that have it send
    "binomial": (
        {},
        {"operation": "broadcast", "algorithm": "binomial", "hosts": "h0..h3"},
        2 * across(40) + PAUSE,
    ),
    # two pairs at once, each as if it were alone
    "groups": (
        {},
        {"operation": "all_reduce", "hosts": "h0..h3", "group_size": 2, "stride": 2},
        2 * across(20) + PAUSE,
    ),
    # the other waits for the slow host; on its second block goes one ACK, for what comes meanwhile
    "straggler": (
        {"stragglers": [{"hosts": "h2", "slowdown": 1.5}]},
        {"operation": "all_reduce", "hosts": "h1..h2", "delay": "10us"},
        5 * US + 2 * across(20) + PAUSE + ACK,
    ),
    # a late host passes on what it has received meanwhile, one block after the other
    "late-ring": (
        {"stragglers": [{"hosts": "h2", "slowdown": 2}]},
        {"operation": "all_gather", "hosts": "h0..h3", "delay": "10us", "in_order": True},
        10 * US + 3 * across(10) + 2 * PAUSE,
    ),
    # who only passes on does so not before it has done its own work
    "late-link": (
        {"stragglers": [{"hosts": "h1", "slowdown": 3}]},
        {"operation": "broadcast", "hosts": "h0..h2", "delay": "10us", "step_delay": "0us"},
        20 * US + across(40),
    ),
    # the order of ranks is drawn, and on a star all orders are alike
    "placed": ({"placement": "random"}, {"operation": "all_to_all"}, across(4 * 8)),
}
BUS = """
[[metric]]
name = "bus"
kind = "bus_bandwidth"
traffic = "job"
collective = "first"
[[metric]]
name = "late"
kind = "lateness"
traffic = "job"
"""


def inline(value: Any) -> str:
    """A value as TOML has it on one line."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{k} = {inline(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(inline(one) for one in value) + "]"
    return json.dumps(value)


@pytest.mark.cpp
def test_times_of_single_collectives_are_the_closed_forms(tmp_path: Path) -> None:
    """To the picosecond, of 40 KB; and the bus bandwidth of nccl-tests is size x factor / time."""
    text = IDEAL + BUS
    for name, (entry, phase, _) in SINGLE.items():
        one = {"name": "first", "size": "40KB", "step_delay": "3us"} | phase
        text += f"[variants.{name}]\n"
        for key, value in ({"collectives": [one]} | entry).items():
            text += f'"traffic.job.{key}" = {inline(value)}\n'
    done, results = run(tmp_path, text)
    assert done.returncode == 0, done.stderr
    (table,) = results.rglob("runs.parquet")
    runs = pd.read_parquet(table).set_index("variant")
    assert {name: int(runs.loc[name, "first"]) for name in SINGLE} == {
        name: closed for name, (*_, closed) in SINGLE.items()
    }
    # all-reduce: 2 (n-1)/n of the size; broadcast: the size; groups: their own n
    for name, factor in (("halving-doubling", 1.5), ("chain", 1.0), ("groups", 1.0)):
        expected = 40_000 * 8e12 * factor / SINGLE[name][-1]
        assert runs.loc[name, "bus"] == pytest.approx(expected, rel=1e-12), name
    assert runs.loc["straggler", "late"] == 5 * US
    assert runs.loc["halving-doubling", "late"] == 0


@pytest.mark.cpp
def test_times_on_an_idle_star_are_the_closed_forms(tmp_path: Path) -> None:
    """To the picosecond: steps x (size / (n B) + latency), for the first of two collectives.

    The second starts when each host has its part of the first, plus its delay.
    """
    text = IDEAL
    for name, (operation, algorithm, hosts, size, pause, _) in CLOSED.items():
        one = {"operation": operation, "algorithm": algorithm, "size": f"{size}KB"}
        one |= {"hosts": f"h0..h{hosts - 1}", "step_delay": f"{pause}us"}
        two = one | {"name": "second", "after": ["first"], "delay": "7us"}
        rows = ", ".join(
            "{ " + ", ".join(f"{k} = {json.dumps(v)}" for k, v in row.items()) + " }"
            for row in ({"name": "first"} | one, two)
        )
        text += f'[variants.{name}]\n"traffic.job.collectives" = [{rows}]\n'
    done, results = run(tmp_path, text)
    assert done.returncode == 0, done.stderr
    (table,) = results.rglob("runs.parquet")
    runs = pd.read_parquet(table).set_index("variant")
    for name, (*_, closed) in CLOSED.items():
        assert runs.loc[name, "first"] == closed, name
    for name in ("ring", "eager", "gather", "scatter", "pairwise"):  # hosts end at the same time
        assert runs.loc[name, "whole"] == 2 * CLOSED[name][-1] + 7 * 10**6, name
