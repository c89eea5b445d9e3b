"""Chakra traces: their bytes, what is refused, and that they are jobs as GOAL and collectives."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pyorch.addons.jobs import chakra_schedule, collectives, goal
from pyorch.addons.jobs.chakra import NODE_TYPES, SCALARS, Node, read, write
from pyorch.addons.jobs.chakra_schedule import COLLECTIVES, OPERATIONS, Reading, _chained, schedule
from pyorch.addons.jobs.goal_kind import Steps
from pyorch.traffic import base as traffic
from tests.cli.test_end_to_end import run
from tests.jobs.test_collectives import IDEAL, across, inline
from tests.jobs.test_goal import begins, evaluated
from tests.jobs.test_lost_time import COLLIDE
from tests.traffic.test_traffic import MS, STAR, resolve
from tools import chakra_example

pytest.importorskip("google.protobuf", reason="the extra [chakra] is not installed")

EXAMPLES = Path(__file__).parents[2] / "experiments" / "ai"


# ---------------------------------------------------------------------------------------------
# Bytes. Written here by protobuf's rules, with nothing of the library


def varint(value: int) -> bytes:
    """Seven bits a byte, the lowest first."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def number(field: int, value: int) -> bytes:
    """A field of wire type 0."""
    return varint(field << 3) + varint(value)


def piece(field: int, content: bytes) -> bytes:
    """A field of wire type 2."""
    return varint(field << 3 | 2) + varint(len(content)) + content


def attribute(name: str, value: bytes) -> bytes:
    """Field 10 of a node."""
    return piece(10, piece(1, name.encode()) + value)


def framed(*messages: bytes) -> bytes:
    """Each behind its length."""
    return b"".join(varint(len(one)) + one for one in messages)


METADATA = piece(1, b"0.0.4") + piece(2, piece(1, b"num_ops") + number(7, 3))
COMPUTE = number(1, 300) + piece(2, b"matmul") + number(3, 4) + number(7, 1234)
REDUCE = (
    number(1, 301)
    + number(3, 7)
    + piece(4, varint(300) + varint(7))  # packed
    + number(5, 300)  # not packed
    + number(5, 299)
    + piece(8, piece(1, b"[1]"))  # inputs
    + attribute("comm_type", number(9, 0))  # int64
    + attribute("comm_size", number(13, 1 << 40))  # uint64
    + attribute("pg_name", piece(29, b"tp"))
    + attribute("involved_dim", piece(28, piece(1, b"\1\0")))
    + attribute("comm_priority", number(15, 5))  # sint32, zigzag: -3
)


def test_bytes_are_read_and_written() -> None:
    """Bytes by hand give these nodes, and what is written is read as what it was."""
    nodes, problems = read(framed(METADATA, COMPUTE, REDUCE), "x")
    assert problems == []
    attributes = {"comm_type": 0, "comm_size": 1 << 40, "pg_name": "tp"}
    attributes |= {"involved_dim": [True, False], "comm_priority": -3}
    wanted = [
        Node(300, "COMP_NODE", (), 1234, {}, "matmul"),
        Node(301, "COMM_COLL_NODE", (300, 7, 299), 0, attributes, ""),
    ]
    assert nodes == wanted
    assert read(write(wanted), "x") == (wanted, [])
    simple = Node(1, "COMP_NODE", (5,), 2)
    by_hand = framed(
        piece(1, b"0.0.4"), number(1, 1) + number(3, 4) + piece(5, b"\5") + number(7, 2)
    )
    assert write([simple]) == by_hand


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "it is empty"),
        (framed(COMPUTE), "message with type 'ChakraProtoMsg.GlobalMetadata'"),
        (framed(number(7, 1)), "does not begin with GlobalMetadata"),
        (framed(METADATA, COMPUTE)[:-1], "x: not a Chakra trace, or a truncated one"),
        (framed(METADATA, COMPUTE, REDUCE)[:-3], "x, behind node 300: not a Chakra trace"),
        (framed(METADATA) + b"\x80", "a truncated one"),
        (framed(METADATA, b"\xff\xff\xff"), "hint: traces of Chakra before 0.0.3 have other"),
        (b"num_ranks 2\nrank 0 {\n", "not a Chakra trace"),
        (framed(METADATA, COMPUTE + piece(11, b"")), "node 300: fields that are not read: 11"),
        (
            framed(METADATA, COMPUTE + attribute("a", b"") + attribute("a", b"")),
            "node 300: two attributes 'a'",
        ),
    ],
)
def test_broken_files_are_refused(data: bytes, told: str) -> None:
    """With the file, and the node before the break."""
    _, problems = read(data, "x")
    assert told in " ".join(problem.render() for problem in problems)


# ---------------------------------------------------------------------------------------------
# Jobs

Job = Sequence[Sequence[Node]]


def save(folder: Path, job: Job) -> Path:
    """Write the traces of a job."""
    for rank, nodes in enumerate(job):
        (folder / f"job.{rank}.et").write_bytes(write(nodes))
    return folder


def flows(folder: Path, **keys: Any) -> traffic.Flows:
    """The flows of the traces in a folder."""
    form, problems = resolve({"kind": "chakra", "file": "job", **keys}, folder=folder)
    assert form is not None, problems
    return traffic.flows([form], STAR, 1, MS)


def coll(node: int, kind: str, size: int, after: Sequence[int] = (), **more: Any) -> Node:
    """A collective."""
    attributes = {"comm_type": COLLECTIVES.index(kind), "comm_size": size, **more}
    return Node(node, "COMM_COLL_NODE", tuple(after), 0, attributes)


PAIR: Job = [
    [
        Node(9, "COMM_SEND_NODE", (4,), 0, {"comm_size": 50000, "comm_dst": 1, "comm_tag": 7}),
        Node(4, "COMP_NODE", (), 3),
        Node(5, "COMM_RECV_NODE", (), 0, {"comm_size": 1000, "comm_src": 1}),
    ],
    [
        Node(0, "METADATA_NODE"),
        Node(1, "COMM_RECV_NODE", (0,), 0, {"comm_size": 50000, "comm_src": 0, "comm_tag": 7}),
        Node(2, "COMP_NODE", (1,), 2, {"is_cpu_op": True}),
        Node(3, "COMM_SEND_NODE", (2,), 0, {"comm_size": 1000, "comm_dst": 0}),
    ],
]
PAIR_GOAL = """
num_ranks 2
rank 0 {
  c: calc 3000
  s: send 50000b to 1 tag 7
  r: recv 1000b from 1
  s requires c
}
rank 1 {
  r: recv 50000b from 0 tag 7
  c: calc 2000 cpu 1
  s: send 1000b to 0
  c requires r
  s requires c
}
"""


@pytest.mark.cpp
def test_a_trace_takes_what_its_schedule_takes(tmp_path: Path) -> None:
    """Run both: the tables of flows are equal, and the closed form holds, to the picosecond."""
    text = IDEAL.replace(
        IDEAL[IDEAL.index("[[traffic]]") :],
        """
[[traffic]]
kind = "goal"
connection = "message"
label = "job"
file = "pair.goal"
[[metric]]
name = "whole"
kind = "collective_time"
traffic = "job"
[variants.goal]
[variants.chakra]
"traffic.job.kind" = "chakra"
"traffic.job.file" = "job"
""",
    )
    (save(tmp_path, PAIR) / "pair.goal").write_text(PAIR_GOAL)
    done, results = run(tmp_path, text)
    assert done.returncode == 0, done.stderr
    (table,) = results.rglob("runs.parquet")
    runs = pd.read_parquet(table).set_index("variant")
    assert runs["whole"].tolist() == [across(50) + 2 * 10**6 + across(1)] * 2
    one, other = (pd.read_parquet(path) for path in results.rglob("flow.parquet"))
    pd.testing.assert_frame_equal(one, other)


@pytest.mark.parametrize("kind", OPERATIONS)
def test_collectives_are_those_of_the_kind_collective(tmp_path: Path, kind: str) -> None:
    """By every algorithm, in two groups, after a computation and before another one."""
    operation = OPERATIONS[kind]
    for algorithm in collectives.names_of(operation):
        if algorithm == "hierarchical":
            continue
        ranks = 2 if "doubling" in algorithm or "halving" in algorithm else 3
        groups = {"a": list(range(ranks)), "b": list(range(ranks, 2 * ranks))}
        size = 6000 // ranks if operation == "all_gather" else 6000  # what a rank gives
        job = [
            [
                Node(1, "COMP_NODE", (), 10),
                coll(2, kind, size, [1], pg_name=name),
                coll(3, kind, size, [2], pg_name=name),
            ]
            for name, members in groups.items()
            for _ in members
        ]
        (save(tmp_path, job) / "groups.json").write_text(json.dumps(groups))
        found = flows(tmp_path, groups="groups.json", algorithms={operation: algorithm})
        keys = {"operation": operation, "algorithm": algorithm, "size": "6KB"}
        keys |= {"group_size": ranks, "hosts": f"h0..h{2 * ranks - 1}"}
        phases = [
            {"name": "first", "delay": "10us", **keys},
            {"name": "second", "after": ["first"], **keys},
        ]
        form, problems = resolve({"kind": "collective", "collectives": phases})
        assert form is not None, problems
        assert begins(found) == begins(traffic.flows([form], STAR, 1, MS)), algorithm
        for rank in range(2 * ranks):
            (tmp_path / f"job.{rank}.et").unlink()


def test_order_of_a_file_and_places_of_ranks_are_free(tmp_path: Path) -> None:
    """Nodes may stand before those they depend on; ranks are on the hosts that are named."""
    found = flows(save(tmp_path, PAIR), hosts=["h4", "h2"], start="1us")
    text = {"kind": "goal", "schedule": PAIR_GOAL, "hosts": ["h4", "h2"], "start": "1us"}
    form, problems = resolve(text)
    assert form is not None, problems
    assert begins(found) == begins(traffic.flows([form], STAR, 1, MS))


def _node(id_: int, kind: str, *more: bytes, name: str = "x") -> bytes:
    """A node as PyTorch's converter writes it, its dependencies in `more`."""
    return (
        number(1, id_)
        + piece(2, name.encode())
        + number(3, NODE_TYPES.index(kind))
        + b"".join(more)
    )


def _called(tmp_path: Path) -> None:
    """Node 1, a host's call of an all-reduce, waits by data for 2, which names 1 as its caller.

    Its kernel, 3, waits by data for 2 alone.
    """
    kind = attribute("comm_type", number(3 + 2 * SCALARS.index("int64"), 0))
    size = attribute("comm_size", number(3 + 2 * SCALARS.index("int64"), 1000))
    host = attribute("is_cpu_op", number(3 + 2 * SCALARS.index("bool"), 1))
    call = _node(
        1, "COMM_COLL_NODE", piece(5, varint(2)), number(7, 4), host, name="c10d::allreduce_"
    )
    comp = _node(2, "COMP_NODE", piece(4, varint(1)), number(7, 5))
    kernel = _node(3, "COMM_COLL_NODE", piece(4, varint(1)), piece(5, varint(2)), kind, size)
    for rank in range(2):
        (tmp_path / f"job.{rank}.et").write_bytes(framed(b"", call, comp, kernel))


def test_traces_of_pytorch_wait_for_data_alone(tmp_path: Path) -> None:
    """Their ctrl_deps say who called whom: refused with the key that helps, then as it is meant."""
    _called(tmp_path)
    form, problems = resolve({"kind": "chakra", "file": "job"}, folder=tmp_path)
    assert form is None
    assert any('dependencies = "data"' in problem for problem in problems)
    found = flows(tmp_path, dependencies="data")
    # an all-reduce of two ranks by ring: halves of 1000 B, twice, after 5 us of computation
    assert sorted(found.sizes.tolist()) == [500] * 4


def test_kernels_of_a_stream_follow_each_other(tmp_path: Path) -> None:
    """In the order of their time stamps; those of another stream, and of the host, do not."""
    ops = {"is_cpu_op": False, "stream": 7}
    chain = [
        Node(1, "COMP_NODE", (), 3, ops | {"ts": 20}),
        Node(2, "COMP_NODE", (), 3, ops | {"ts": 10}),
        Node(3, "COMP_NODE", (), 3, ops | {"stream": 8, "ts": 15}),
        Node(4, "COMP_NODE", (2,), 3, {"is_cpu_op": True, "stream": 7, "ts": 30}),
        Node(5, "COMP_NODE", (2,), 3, ops | {"ts": 40}),
    ]
    assert [node.after for node in _chained(chain)] == [(2,), (), (), (2,), (2, 1)]


def test_a_named_group_does_not_ask_for_dimensions(tmp_path: Path) -> None:
    """Two all-reduces of two ranks: the ranks are those of the groups, whatever is involved."""
    groups = {"0": [0, 1], "1": [2, 3]}
    job = [
        [coll(1, "ALL_REDUCE", 100, pg_name=name, involved_dim=[True, False])]
        for name in groups
        for _ in range(2)
    ]
    (save(tmp_path, job) / "groups.json").write_text(json.dumps(groups))
    found = flows(tmp_path, groups="groups.json")
    assert {
        frozenset(ends) for ends in zip(found.src.tolist(), found.dst.tolist(), strict=True)
    } == {frozenset({0, 1}), frozenset({2, 3})}
    assert int(found.sizes.sum()) == 2 * 2 * 100  # 2 (n - 1) / n of the size, for each rank


def broken(rank: int, node: Node, job: Job = PAIR) -> Job:
    """A job in which a rank has another node behind its own."""
    return [[*nodes, node] if n == rank else nodes for n, nodes in enumerate(job)]


WHOLE = {"comm_type": 0, "comm_size": 100}
TOLD: Mapping[str, tuple[Job, str]] = {
    "kind": (
        broken(1, Node(8, "MEM_LOAD_NODE")),
        "job.1.et, node 8: a MEM_LOAD_NODE is not read",
    ),
    "collective": (
        broken(0, coll(8, "BARRIER", 8)),
        "job.0.et, node 8: attribute 'comm_type' is 9, BARRIER, which is not read",
    ),
    "attribute": (
        broken(0, Node(8, "COMP_NODE", (), 1, {"colour": 3})),
        "job.0.et, node 8: attribute 'colour' of a COMP_NODE is not read",
    ),
    "work": (
        broken(0, Node(8, "COMP_NODE", (), 0, {"num_ops": 3})),
        "node 8: a computation of 'num_ops' without 'duration_micros'",
    ),
    "missing": (
        broken(0, Node(8, "COMM_COLL_NODE", (), 0, {"comm_type": 0})),
        "node 8: no attribute 'comm_size' of a COMM_COLL_NODE",
    ),
    "peer": (
        broken(0, Node(8, "COMM_SEND_NODE", (), 0, {"comm_size": 1, "comm_dst": 2})),
        "node 8: attribute 'comm_dst' is 2 of a COMM_SEND_NODE",
    ),
    "self": (
        broken(0, Node(8, "COMM_SEND_NODE", (), 0, {"comm_size": 1, "comm_dst": 0})),
        "job.0.et, node 8: rank 0 sends to itself",
    ),
    "source": (
        broken(0, Node(8, "COMM_SEND_NODE", (), 0, {"comm_size": 1, "comm_dst": 1, "comm_src": 1})),
        "node 8: attribute 'comm_src' is 1",
    ),
    "alone": (
        broken(0, Node(8, "COMM_SEND_NODE", (), 0, {"comm_size": 1, "comm_dst": 1})),
        "job.0.et, node 8: nothing receives what rank 0 sends to 1 with tag 0",
    ),
    "smaller": (
        broken(
            1,
            Node(8, "COMM_RECV_NODE", (), 0, {"comm_size": 1, "comm_src": 0}),
            broken(0, Node(8, "COMM_SEND_NODE", (), 0, {"comm_size": 2, "comm_dst": 1})),
        ),
        "job.1.et, node 8: 1 B are received of the 2 B sent in job.0.et, node 8",
    ),
    "unfinished": (
        broken(0, Node(8, "COMP_NODE", (77, 4), 1)),
        "job.0.et: nodes depend on a node that is not in the file (77)",
    ),
    "circle": (
        broken(0, Node(8, "COMP_NODE", (10,)), broken(0, Node(10, "COMP_NODE", (8,)))),
        "job.0.et, node 10: nodes depend on each other in a cycle: among 10, 8",
    ),
    "across": (
        [
            [
                Node(1, "COMM_RECV_NODE", (), 0, {"comm_size": 1, "comm_src": 1}),
                Node(2, "COMM_SEND_NODE", (1,), 0, {"comm_size": 1, "comm_dst": 1}),
            ],
            [
                Node(3, "COMM_RECV_NODE", (), 0, {"comm_size": 1, "comm_src": 0}),
                Node(4, "COMM_SEND_NODE", (3,), 0, {"comm_size": 1, "comm_dst": 0}),
            ],
        ],
        "in job.0.et, node 1; job.0.et, node 2; job.1.et, node 3; job.1.et, node 4 wait for",
    ),
    "twice": (broken(0, Node(4, "COMP_NODE")), "job.0.et, node 4: another node has this id"),
    "few": (
        broken(0, coll(8, "ALL_REDUCE", 100)),
        "job.0.et, node 8: rank 1 has no collective number 1 of this group",
    ),
    "unlike": (
        [[coll(1, "ALL_REDUCE", 100)], [coll(2, "ALL_REDUCE", 200)]],
        "job.1.et, node 2: attribute 'comm_size' is 200, and in job.0.et, node 1 it is 100",
    ),
    "small": (
        [[coll(1, "ALL_REDUCE", 1)], [coll(1, "ALL_REDUCE", 1)]],
        "job.0.et, node 1: all_reduce by ring of 1 B in 2 parts",
    ),
    "group": (
        [[coll(1, "ALL_REDUCE", 100, pg_name="x")], [coll(1, "ALL_REDUCE", 100)]],
        "job.0.et, node 1: attribute 'pg_name' is 'x', whose ranks are not known",
    ),
    "dimension": (
        [[coll(1, "ALL_REDUCE", 100, involved_dim=[True, False])], [coll(1, "ALL_REDUCE", 100)]],
        "job.0.et, node 1: attribute 'involved_dim' leaves dimensions out",
    ),
}


@pytest.mark.parametrize("name", TOLD)
def test_what_is_not_read_is_told_with_file_and_node(tmp_path: Path, name: str) -> None:
    """And with the attribute, where one is to blame."""
    job, told = TOLD[name]
    form, problems = resolve({"kind": "chakra", "file": "job"}, folder=save(tmp_path, job))
    assert form is None
    assert any(told in problem for problem in problems), problems


def test_missing_nodes_are_told_once_a_file_or_ignored(tmp_path: Path) -> None:
    """Ignored, they are as if nothing depended on them; other dependencies stay."""
    lost = [node._replace(after=(*node.after, 70 + node.id, 99)) for node in PAIR[0]]
    more = [Node(100 + n, "METADATA_NODE", (200 + n,)) for n in range(30)]
    save(tmp_path, [lost, [*PAIR[1], *more]])
    form, problems = resolve({"kind": "chakra", "file": "job"}, folder=tmp_path)
    assert form is None
    first = ", ".join(str(200 + n) for n in range(10))
    assert [problem.split("\n")[0] for problem in problems] == [
        "job.0.et: nodes depend on 4 nodes that are not in the file (79, 99, 74, 75)",
        f"job.1.et: nodes depend on 30 nodes that are not in the file ({first}, ...)",
    ]
    found = flows(tmp_path, ignore_missing=True)
    assert begins(found) == begins(flows(save(tmp_path, PAIR)))


@pytest.mark.parametrize(
    ("keys", "time"),
    [
        ({}, 7000),  # its duration
        ({"flops": 2e12}, 3000),
        ({"flops": 2e12, "memory_rate": 1e12}, 4000),  # its bytes take longer
        ({"flops": 2e12, "memory_rate": 1e13}, 3000),
    ],
)
def test_operations_take_what_processor_and_memory_say(keys: dict[str, float], time: int) -> None:
    """6e6 operations on 4 MB by ASTRA-sim's roofline [ns], in place of 7 us; others stay."""
    work = Node(0, "COMP_NODE", (), 7, {"num_ops": 6 * 10**6, "tensor_size": 4 * 10**6})
    ranks = [("t", [work, Node(1, "COMP_NODE", (), 5)])] * 2
    text, _, problems = schedule(ranks, Reading(**keys))
    assert not problems
    assert f"n0: calc {time} cpu 0" in text
    assert "n1: calc 5000 cpu 0" in text


def test_a_rate_of_memory_needs_one_of_operations(tmp_path: Path) -> None:
    """Alone it would have no effect; operations without a number are told."""
    save(tmp_path, PAIR)
    _, (told,) = resolve({"kind": "chakra", "file": "job", "memory_rate": 1e12}, folder=tmp_path)
    assert "give 'flops', too" in told
    job = broken(0, Node(8, "COMP_NODE", (), 0, {"num_ops": -3}))
    _, problems = resolve(
        {"kind": "chakra", "file": "job", "flops": 1e12}, folder=save(tmp_path, job)
    )
    assert any("attribute 'num_ops' is -3" in problem for problem in problems)


def test_messages_may_have_a_comm_type(tmp_path: Path) -> None:
    """As in ASTRA-sim's custom collectives, without a meaning; a computation may not."""
    wanted = begins(flows(save(tmp_path, PAIR)))
    job = [
        [
            node._replace(attributes={**node.attributes, "comm_type": 5})
            if node.kind.startswith("COMM")
            else node
            for node in nodes
        ]
        for nodes in PAIR
    ]
    assert begins(flows(save(tmp_path, job))) == wanted
    save(tmp_path, broken(0, Node(8, "COMP_NODE", (), 1, {"comm_type": 5}), job))
    _, problems = resolve({"kind": "chakra", "file": "job"}, folder=tmp_path)
    assert "attribute 'comm_type' of a COMP_NODE is not read" in problems[0]


def test_files_and_keys_are_checked(tmp_path: Path) -> None:
    """Missing ranks, files of groups, algorithms that there are not, and attributes let pass."""

    def problems(**keys: Any) -> str:
        form, told = resolve({"kind": "chakra", "file": "job", **keys}, folder=tmp_path)
        assert (form is None) == bool(told)
        return "\n".join(told)

    assert "there is no file 'job.0.et'" in problems()
    save(tmp_path, PAIR)
    assert "'hierarchical'" in problems(algorithms={"all_reduce": "hierarchical"})
    assert "reduce" in problems(algorithms={"reduce": "ring"})
    assert "there is no file 'g.json'" in problems(groups="g.json")
    (tmp_path / "g.json").write_text('{"a": [0, 0], "b": [5]}')
    assert "g.json, a: not a list of different ranks" in problems(groups="g.json")
    assert "g.json, b: rank 5 of 2" in problems(groups="g.json")
    colour = Node(8, "COMP_NODE", (), 1, {"colour": 3})
    save(tmp_path, broken(0, colour))
    assert problems(ignore=["colour"]) == ""
    (tmp_path / "job.3.et").write_bytes(write([]))
    assert "'job.2.et' is missing" in problems()
    assert "2 ranks" in problems(hosts="h0") or "'job.2.et' is missing" in problems(hosts="h0")


# ---------------------------------------------------------------------------------------------
# Names of collectives

GROUPS = {"t0": [0, 1], "t1": [2, 3], "d0": [0, 2], "d1": [1, 3], "all": [0, 1, 2, 3]}


def reduction(node: int, name: str, group: str, size: int = 100, **more: Any) -> Node:
    """A named all-reduce of a group."""
    return coll(node, "ALL_REDUCE", size, pg_name=group, **more)._replace(name=name)


@pytest.mark.parametrize(
    ("told", "nodes"),
    [
        (  # groups that do the same share a name, and a name again is another round
            [("x", 0, 0), ("x", 0, 1), ("x", 1, 0), ("x", 1, 1)],
            lambda rank: [reduction(n, "x", f"t{rank // 2}") for n in (1, 2)],
        ),
        (  # without a name it is the operation, and spaces are those of a line
            [("all_reduce", 0, 0), ("a b", 0, 0)],
            lambda _: [reduction(1, "", "all"), reduction(2, " a\n b", "all")],
        ),
        (  # groups of another size do something else, and so do those with another description
            [("x, 2 ranks", 0, 0), ("x, 2 ranks", 2, 0), ("x, 4 ranks", 1, 0)],
            lambda rank: [reduction(1, "x", f"t{rank // 2}"), reduction(2, "x", "all")],
        ),
        (
            [("x, tp", 0, 0), ("x, dp", 1, 0), ("x, dp", 2, 0), ("x, tp", 3, 0)],
            lambda rank: [
                reduction(1, "x", f"t{rank // 2}", pg_desc="tp"),
                reduction(2, "x", f"d{rank % 2}", pg_desc="dp"),
            ],
        ),
        (
            [("x, all_reduce", 0, 0), ("x, all_gather", 0, 0)],
            lambda _: [
                reduction(1, "x", "all"),
                coll(2, "ALL_GATHER", 10, pg_name="all")._replace(name="x"),
            ],
        ),
    ],
)
def test_collectives_are_called_like_their_nodes(
    tmp_path: Path, told: list[tuple[str, int, int]], nodes: Callable[[int], list[Node]]
) -> None:
    """Each message has the name of its node, its group among all, and its round."""
    (save(tmp_path, [nodes(rank) for rank in range(4)]) / "groups.json").write_text(
        json.dumps(GROUPS)
    )
    entry = {"kind": "chakra", "file": "job", "groups": "groups.json"}
    form, problems = resolve(entry, folder=tmp_path)
    assert form is not None, problems
    parts = form.parts()
    assert parts is not None
    columns = (parts.phase.tolist(), parts.group.tolist(), parts.round.tolist())
    found = {(parts.names[phase], *more) for phase, *more in zip(*columns, strict=True)}
    assert sorted(found) == sorted(told)


@pytest.mark.cpp
def test_names_reach_metrics_and_figures(tmp_path: Path) -> None:
    """In all of them a trace is what a `collective` entry with its names is, beside others."""
    job = [
        [
            Node(1, "COMP_NODE", (), 10),
            coll(2, "ALL_REDUCE", 400_000, [1], pg_name=f"t{rank // 2}")._replace(name="tensors"),
            coll(3, "ALL_GATHER", 100_000, [2], pg_name="all")._replace(name="weights"),
        ]
        for rank in range(4)
    ]
    (save(tmp_path, job) / "groups.json").write_text(json.dumps(GROUPS))
    hosts = ["h0", "h4", "h1", "h5"]
    tensors = {"name": "tensors", "operation": "all_reduce", "size": "400KB", "delay": "10us"}
    weights = {"name": "weights", "operation": "all_gather", "size": "400KB", "after": ["tensors"]}
    trace = {"kind": "chakra", "file": "job", "groups": "groups.json"}
    direct = {"kind": "collective", "collectives": [tensors | {"group_size": 2}, weights]}
    text = COLLIDE[: COLLIDE.index("[[traffic]]")]
    for table in ("pause_tree", "flow_link"):
        text += f'[[trace]]\ntable = "{table}"\n'
    for name in ("tensors", "weights"):
        for kind, more in (
            ("bus_bandwidth", ""),
            ("collective_time", ""),
            ("lateness", ""),
            ("lost_time", 'to = "collisions"'),
        ):
            text += f'[[metric]]\nname = "{kind}_{name}"\nkind = "{kind}"\ntraffic = "job"\n'
            text += f'collective = "{name}"\n{more}\n'
    text += '[[metric]]\nname = "rounds"\nkind = "iteration_time"\ntraffic = "job"\n'
    others = {"kind": "messages", "messages": [{"src": "h2", "dst": "h6", "size": "5MB"}]}
    for variant, entry in (("trace", trace), ("direct", direct)):
        job = {"label": "job", "connection": "message", "hosts": hosts}
        entries = [{**job, **entry}, others]
        text += f"[variants.{variant}]\ntraffic = {inline(entries)}\n"
    text += '[[figure]]\nname = "lost"\nkind = "lost"\ntraffic = "job"\ncolumns = "variant"\n'
    text += '[[figure]]\nname = "ranks"\nkind = "rank_timeline"\ncolumns = "variant"\n'
    done, results = run(tmp_path, text)
    assert done.returncode == 0, done.stderr
    (page,) = results.rglob("report/index.html")
    assert "tensors, weights" in page.read_text()  # in the setting, without their tags
    (table,) = results.rglob("runs.parquet")
    runs = pd.read_parquet(table).set_index("variant")
    columns = [name for name in runs.columns if name.endswith(("tensors", "weights"))]
    assert len(columns) == 8
    one, other = (runs.loc[name, columns] for name in ("trace", "direct"))
    assert one.tolist() == other.tolist()
    assert one["lost_time_weights"] > 0
    assert one["bus_bandwidth_weights"] > 0
    assert pd.isna(runs.loc["trace", "rounds"])  # a trace has no rounds of a job
    for figure in ("lost", "ranks"):
        (file,) = results.rglob(f"{figure}.csv")
        drawn = pd.read_csv(file, keep_default_na=False)
        if figure == "ranks":
            drawn = drawn[drawn["category"] == "collective"]
        panels = [
            drawn[drawn["panel"] == name].drop(columns="panel").reset_index(drop=True)
            for name in ("trace", "direct")
        ]
        pd.testing.assert_frame_equal(*panels)
        names = panels[0]["collective" if figure == "lost" else "name"]
        assert set(names) == {"tensors", "weights"}


def test_a_trace_becomes_a_schedule(tmp_path: Path) -> None:
    """The run keeps the schedule, so that the names of files do not count."""
    form, problems = resolve({"kind": "chakra", "file": "job"}, folder=save(tmp_path, PAIR))
    assert form is not None, problems
    assert form.kind == "goal"
    schedule, mistakes = goal.read(form.schedule)
    assert schedule is not None, mistakes
    assert sorted(one.kind for one in schedule.operations).count("send") == 2


def test_shipped_traces_are_the_generator_s(tmp_path: Path) -> None:
    """Byte by byte, and they are a job."""
    chakra_example.main(tmp_path)
    for made in tmp_path.iterdir():
        assert made.read_bytes() == (EXAMPLES / made.name).read_bytes()
    assert len(list(tmp_path.iterdir())) == chakra_example.RANKS + 1


def _dense(seed: int) -> list[Node]:
    """Computations and all-reduces, each of which waits for many before it."""
    draw = np.random.default_rng(seed)
    nodes = []
    for number in range(40):
        after = tuple(one for one in range(number) if draw.random() < 0.5)
        if draw.random() < 0.3:
            size = {"comm_type": 0, "comm_size": int(draw.integers(100, 9000))}
            nodes.append(Node(number, "COMM_COLL_NODE", after, 0, size))
        else:
            nodes.append(Node(number, "COMP_NODE", after, int(draw.integers(9))))
    return nodes


@pytest.mark.parametrize("seed", range(5))
def test_copies_of_a_trace_are_as_so_many_traces(seed: int) -> None:
    """Without dependencies that follow from others: every flow begins as it did."""
    nodes = _dense(seed)
    whole, _, wrong = schedule([("t", [*nodes]) for _ in range(3)], Reading())
    short, _, also_wrong = schedule([("t", nodes)] * 3, Reading())
    assert wrong == also_wrong == []
    assert short.count("requires") < whole.count("requires")
    found = []
    for text in (whole, short):
        read_back, _ = goal.read(text)
        assert read_back is not None
        steps = Steps(read_back, 0, ())
        found.append(evaluated(steps, [700 + 13 * size for size in steps.sizes.tolist()]))
    assert found[0] == found[1]


def test_copies_with_too_many_statements_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages of collectives grow with the square of the ranks; a cycle is told before."""
    nodes = [Node(0, "COMM_COLL_NODE", (), 0, {"comm_type": 0, "comm_size": 9000})]
    monkeypatch.setattr(chakra_schedule, "MOST_COPIED", 1000)
    assert schedule([("t", nodes * 1)] * 4, Reading())[2] == []
    more = [node._replace(id=number) for number, node in enumerate(nodes * 9)]
    (problem,) = schedule([("t", more)] * 16, Reading())[2]
    assert "of 16 ranks are too many" in problem.what
    circle = [Node(one, "COMP_NODE", tuple({0, 1, 2} - {one})) for one in range(3)]
    (problem,) = schedule([("t", circle)] * 2, Reading())[2]
    assert "depend on each other in a cycle" in problem.what
