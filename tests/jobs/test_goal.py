"""GOAL: what is read and refused, what its steps mean, and that what is written says the same."""

from __future__ import annotations

import functools
import gzip
import random
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyorch.addons.jobs import goal
from pyorch.addons.jobs.goal_kind import Steps
from pyorch.addons.jobs.goal_of_flows import goal_of_flows
from pyorch.base.errors import UserError
from pyorch.traffic import base as traffic
from tests.cli.test_end_to_end import run
from tests.jobs.test_collectives import ACK, IDEAL, across, edges
from tests.strategies import network
from tests.traffic.test_traffic import STAR, make, resolve

PING_PONG = """
// two ranks
num_ranks 2
rank 0 {
  a: calc 500 cpu 0
  b: send 1000b to 1 tag 7 cpu 1 nic 0
  c: recv 20b from 1
  b requires a
}
rank 1 { r: recv 1000b from 0 tag 7
  /* an answer,
     after 2 us */
  w: calc 2000
  s: send 20b to 0
  w requires r
  s requires w }
"""


def test_a_schedule_is_read() -> None:
    """Comments, blocks on one line, tags and CPUs; sends find their receives."""
    schedule, mistakes = goal.read(PING_PONG)
    assert mistakes == ()
    assert schedule is not None
    assert [(one.kind, one.rank, one.size, one.peer, one.tag) for one in schedule.operations] == [
        ("calc", 0, 500, -1, 0),
        ("send", 0, 1000, 1, 7),
        ("recv", 0, 20, 1, 0),
        ("recv", 1, 1000, 0, 7),
        ("calc", 1, 2000, -1, 0),
        ("send", 1, 20, 0, 0),
    ]
    assert dict(schedule.matches) == {1: 3, 5: 2}
    again, _ = goal.read(goal.plain(PING_PONG))
    assert again is not None
    assert [one[:7] for one in again.operations] == [one[:7] for one in schedule.operations]
    assert again.waits == schedule.waits


HEAD = "num_ranks 2\nrank 0 {\n"
OTHER = "}\nrank 1 {\nr: recv 5b from 0\n}\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("rank 0 {\n}\n", ["line 1: a rank before num_ranks", "num_ranks is missing"]),
        (
            "num_ranks 3\nrank 0 {\n}\nrank 3 {\n}\n",
            ["line 4: rank 3 of 3", "no block for rank 1, 2"],
        ),
        (HEAD + "send 5b to 1\nrecv 5b from 1\n" + OTHER, ["line 4: nothing sends what rank 0"]),
        (
            HEAD + "send 5b to 1 tag 3\n" + OTHER,
            ["line 3: nothing receives", "line 6: nothing sends"],
        ),
        (HEAD + "send 9b to 1\n" + OTHER, ["line 6: 5 B are received of the 9 B sent in line 3"]),
        (HEAD + "send 5b to 0\n" + OTHER, ["line 3: rank 0 sends to itself"]),
        (HEAD + "send 5b to 2\n" + OTHER, ["line 3: rank 2 of 2"]),
        (HEAD + "send 5b from 1\n" + OTHER, ["line 3: send ... from"]),
        (HEAD + "recv 5b from -1 tag -1\n" + OTHER, ["line 3: a recv that accepts any rank"]),
        (HEAD + "send 5b to 1 nic 2\n" + OTHER, ["line 3: nic 2 of a rank that is one host"]),
        (
            HEAD + "s: send 5b to 1\ns: calc 3\n" + OTHER,
            ["line 4: the label 's' is in line 3 already"],
        ),
        (HEAD + "s: send 5b to 1\ns requires t\n" + OTHER, ["line 4: rank 0 has no label 't'"]),
        ("num_ranks 999999999\n", ["no block for rank 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ..."]),
        (HEAD + "wait 5\n" + OTHER, ["line 3: not understood: 'wait 5'"]),
        (
            "calc 5\n}\n" + HEAD + "send 5b to 1\n" + OTHER,
            ["line 1: a calc outside", "line 2: unmatched }"],
        ),
        (
            HEAD + "send 5b to 1\n}\nrank 1 {\nrecv 5b from 0\n",
            ["line 6: the block of rank 1 has no end"],
        ),
        (
            HEAD + "s: send 5b to 1\nw: calc 7\ns requires w\nw requires s\n" + OTHER,
            ["line 3: the operations in lines 3, 4 wait for each other in a cycle"],
        ),
        (
            HEAD + "a: recv 5b from 1\nb: send 5b to 1\nb requires a\n}\n"
            "rank 1 {\na: recv 5b from 0\nb: send 5b to 0\nb requires a\n}\n",
            ["line 3: the operations in lines 3, 4, 8, 9 wait for each other in a cycle"],
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, text: str, told: list[str]) -> None:
    """All of it at once, with the name of the file."""
    (tmp_path / "x.goal").write_text(text)
    form, problems = resolve({"kind": "goal", "file": "x.goal"}, folder=tmp_path)
    assert form is None
    for what in told:
        wanted = f"x.goal, {what}" if what.startswith("line") else f"x.goal: {what}"
        assert any(problem.startswith(wanted) for problem in problems), (wanted, problems)


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("send 5 to 1", "send: the size is '5'"),
        ("send 5b 1", "send: the rank is '1'"),
        ("send 5b to h1", "send: the rank is 'h1'"),
        ("send 5b to 1 tag 1234567890123456789", "send: the tag is '1234567890123456789'"),
        ("send 5b to 1 tag " + "9" * 100, "send: the tag is '" + "9" * 40 + "...'"),
        ("send 5b to 1 tag", "send: the tag is missing"),
        ("recv 5b from 1 cpu x nic 1", "recv: the cpu is 'x'"),
        ("recv 5b from 1 cpu 3 nic -1", "recv: the nic is '-1'"),
        ("send 5b to 1 cpu 1 tag 2", "send: 'tag' is no field, or not in order"),
        ("calc 1.5", "calc: the time is '1.5'"),
        ("calc 7 nic 1", "calc: 'nic' is no field, or not in order"),
        ("sleep 7", "not understood: 'l: sleep 7'"),
    ],
)
def test_the_wrong_field_is_told_alone(statement: str, told: str) -> None:
    """A refused statement is no reason to report what waits for its label."""
    waits = "c: calc 1\nc requires l\nl requires c\n"
    _, mistakes = goal.read(HEAD + f"l: {statement}\n" + waits + OTHER)
    assert [(one.line, one.what) for one in mistakes] == [(3, told)]
    assert mistakes[0].allowed


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("num_ranks two\nrank 0 {\nsend 5b to 1\n}\n", (1, "num_ranks: the number is 'two'")),
        ("num_ranks 2\nrank 0\n{\nsend 5b to 1\n}\n", (2, "rank: the block is missing")),
    ],
)
def test_a_refused_head_is_told_alone(text: str, told: tuple[int, str]) -> None:
    """What follows cannot be judged without it."""
    _, mistakes = goal.read(text)
    assert [(one.line, one.what) for one in mistakes] == [told]


def test_other_content_is_told(tmp_path: Path) -> None:
    """Compressed files and other bytes are reported, and so is a single rank."""
    cases = {
        gzip.compress(PING_PONG.encode()): "compressed (gzip)",
        b"\x00\x02GOAL": "not text: a NUL byte in line 1",
        b"\xff\x02": "not UTF-8 text",
    }
    for content, what in cases.items():
        (tmp_path / "x.goal").write_bytes(content)
        _, (problem,) = resolve({"kind": "goal", "file": "x.goal"}, folder=tmp_path)
        assert what in problem
    _, (problem, *_) = resolve({"kind": "goal", "schedule": "num_ranks 1\nrank 0 {\n}\n"})
    assert "num_ranks is 1" in problem


def test_ranks_need_hosts() -> None:
    """One each; those that are left over stay idle."""
    many = "num_ranks 7\n" + "".join(f"rank {n} {{ calc 1\n }}\n" for n in range(7))
    _, problems = resolve({"kind": "goal", "schedule": many})
    assert "7 ranks on 6 hosts" in problems[0]
    flows = make({"kind": "goal", "schedule": PING_PONG, "hosts": ["h4", "h2", "h0"]})
    assert (flows.src.tolist(), flows.dst.tolist()) == ([4, 2], [2, 4])


# ---------------------------------------------------------------------------------------------
# Ranks that are servers, in files as ATLAHS's generators write them

#: Two nodes of two GPUs. Two channels, in opposite directions around the ring of GPUs, so that a
#: message leaves one GPU and arrives at the other. Tags: chunk, channel, sequence, type, group.
ATLAHS = """num_ranks 2

rank 0 {
l1: calc 0 cpu 0
l2: calc 0 cpu 0
l3: calc 500 cpu 1
l3 requires l1
l4: send 10000b to 1 tag 12000001031 cpu 2 nic 1
l4 requires l3
l5: recv 10000b from 1 tag 13000001031 cpu 2 nic 0
l5 requires l3
l2 requires l4
l2 requires l5
l6: send 10000b to 1 tag 12010001031 cpu 3nic 0
l6 requires l3
l7: recv 10000b from 1 tag 13010001031 cpu 3 nic 1
l7 requires l3
l2 requires l6
l2 requires l7
}

rank 1 {
l1: calc 0 cpu 0
l2: calc 0 cpu 0
l3: recv 10000b from 0 tag 12000001031 cpu 1 nic 0
l3 requires l1
l4: recv 10000b from 0 tag 12010001031 cpu 2 nic 1
l4 requires l1
l5: calc 0 cpu 1
l5 requires l3
l5 requires l4
l6: calc 2000 cpu 1
l6 requires l5
l7: send 10000b to 0 tag 13000001031 cpu 1 nic 1
l7 requires l6
l2 requires l7
l8: send 10000b to 0 tag 13010001031 cpu 2nic 0
l8 requires l6
l2 requires l8
}
"""
PAIRS = network(kind="star", hosts=8, hosts_per_server=2)


def ends(entry: dict[str, Any], seed: int = 1) -> list[tuple[int, int]]:
    """Source and destination of every flow of ATLAHS's file, with ranks that are servers."""
    flows = make({"kind": "goal", "schedule": ATLAHS, "ranks": "servers"} | entry, PAIRS, seed)
    return list(zip(flows.src.tolist(), flows.dst.tolist(), strict=True))


def test_a_rank_can_be_a_server() -> None:
    """Rank n is the n-th server, or of those named the n-th, and NIC k its host k."""
    assert ends({}) == [(1, 2), (0, 3), (3, 0), (2, 1)]
    assert ends({"hosts": ["h6", "h2..h3"]}) == [(7, 2), (6, 3), (3, 6), (2, 7)]
    drawn = [ends({"placement": "random"}, seed) for seed in range(9)]
    assert len({one[0][0] // 2 for one in drawn}) > 2, "servers at random"
    for (a, b), (c, d), *back in drawn:
        assert (a % 2, b % 2, c % 2, d % 2) == (1, 0, 0, 1), "and all hosts of a rank on one"
        assert (a // 2, b // 2) == (c // 2, d // 2)
        assert back == [(d, c), (b, a)]


def test_the_page_says_where_a_message_of_a_nic_goes() -> None:
    """The example of docs/goal.md: NIC 1 of rank 0 to NIC 0 of rank 1 is h1 to h2."""
    page = (Path(__file__).parents[2] / "docs" / "goal.md").read_text(encoding="utf-8")
    part = page[page.index("## Ranks that are servers") :].split("```")[1].removeprefix("toml")
    example = tomllib.loads(part)
    (entry,) = example["traffic"]
    del entry["file"]
    text = "num_ranks 2\nrank 0 {\nsend 10b to 1 nic 1\n}\nrank 1 {\nrecv 10b from 0 nic 0\n}\n"
    flows = make(entry | {"schedule": text}, network(**example["topology"]))
    assert (flows.src.tolist(), flows.dst.tolist()) == ([1], [2])


def test_what_a_server_lacks_is_told() -> None:
    """NICs beyond its hosts, servers beyond the network's, rails as places."""
    entry = {"kind": "goal", "schedule": ATLAHS, "ranks": "servers"}
    beyond = {"schedule": ATLAHS.replace("3nic 0", "3nic 4")}
    _, (problem,) = resolve(entry | beyond, PAIRS)
    assert problem.startswith("schedule, line 14: nic 4 of a server of 2 hosts")
    assert "nic 0 to 1" in problem
    assert "hosts_per_server" in problem
    _, (problem, *_) = resolve(entry, STAR)
    assert "nic 1 of a server of 1 hosts" in problem
    _, (problem,) = resolve(entry | {"hosts": ["h0", "h1"]}, PAIRS)
    assert "2 ranks on 1 servers" in problem
    _, (problem,) = resolve(entry | {"placement": "by_rail"}, PAIRS)
    assert "a host on every rail" in problem


def test_earlier_runs_keep_their_names() -> None:
    """The key is in the canonical form only where it is used."""
    form, _ = resolve({"kind": "goal", "schedule": PING_PONG})
    assert form is not None
    assert "ranks" not in form


@pytest.mark.cpp
def test_times_of_servers_are_the_closed_forms(tmp_path: Path) -> None:
    """By two NICs the two messages each way are alone; by one they take twice as many packets.

    A server computes as slowly as the slowest of its hosts.
    """
    head = IDEAL[: IDEAL.index("[[traffic]]")].replace(
        "hosts = 5", "hosts = 4\nhosts_per_server = 2"
    )
    text = (
        head
        + """
[[traffic]]
kind = "goal"
connection = "message"
label = "job"
file = "two.goal"
ranks = "servers"
[[metric]]
name = "whole"
kind = "job_time"
traffic = "job"
[variants.two]
[variants.one]
"traffic.job.file" = "one.goal"
[variants.slow]
"traffic.job.stragglers" = [{ hosts = "h3", slowdown = 2 }]
"""
    )
    (tmp_path / "two.goal").write_text(ATLAHS)
    (tmp_path / "one.goal").write_text(ATLAHS.replace("nic 1", "nic 0"))
    done, results = run(tmp_path, text)
    assert done.returncode == 0, done.stderr
    (table,) = results.rglob("runs.parquet")
    runs = pd.read_parquet(table).set_index("variant")
    two = 500_000 + 2 * across(10) + 2 * 10**6
    one = 500_000 + 2 * across(20) + 2 * 10**6
    assert runs["whole"].to_dict() == {"two": two, "one": one, "slow": two + 2 * 10**6}


# ---------------------------------------------------------------------------------------------
# What the steps mean: against a second model, by recursion over the definition


NAMED: dict[str, Any] = {"name": "ping", "operation": "broadcast", "size": "1KB", "tags": [7, 7]}


def test_messages_are_named_by_their_tags() -> None:
    """Those between two tags, whatever the order of the list; others have no name."""
    entry = {"kind": "goal", "schedule": PING_PONG}
    back = {"name": "pong", "operation": "all_to_all", "size": "20B", "group": 3, "tags": [0, 6]}
    for named, phases in (([NAMED, back], [0, 1]), ([back, NAMED], [1, 0]), ([NAMED], [0, -1])):
        form, problems = resolve({**entry, "collectives": named})
        assert form is not None, problems
        parts = form.parts()
        assert parts is not None
        assert parts.phase.tolist() == phases
        assert parts.ranks == (2,) * len(named)
        assert parts.round.tolist() == [0, 0]
    form, _ = resolve(entry)
    assert form is not None
    assert form.parts() is None


@pytest.mark.parametrize(
    ("named", "told"),
    [
        ([NAMED | {"tags": [3, 6]}], "collectives[0].tags: no message has a tag from 3 to 6"),
        ([NAMED | {"tags": [7, 6]}], "collectives[0].tags: 7 to 6"),
        ([NAMED | {"tags": [7]}], "collectives[0].tags"),
        (
            [NAMED, NAMED | {"name": "pong", "tags": [0, 9]}],
            "collectives[0].tags: collectives[1] has tag 7, too",
        ),
        ([NAMED | {"operation": "sum"}], "unknown operation 'sum'"),
        (
            [NAMED, NAMED | {"operation": "all_gather", "tags": [0, 0]}],
            "collectives[1]: 'ping' is all_gather of 2 ranks here",
        ),
    ],
)
def test_names_that_cannot_be_are_refused(named: list[dict[str, Any]], told: str) -> None:
    """With the number of the collective."""
    form, problems = resolve({"kind": "goal", "schedule": PING_PONG, "collectives": named})
    assert form is None
    assert told in "\n".join(problems)


def second_model(schedule: goal.Schedule, eager: int, took: dict[int, int]) -> dict[int, int]:
    """When each send begins [ps], if the message of a send takes `took` [ps]."""
    sender = {receive: send for send, receive in schedule.matches.items()}

    def begin(number: int) -> int:
        moments = [
            begin(after) if begun else end(after)
            for waiter, after, begun in schedule.waits
            if waiter == number
        ]
        return max(moments, default=0)

    def end(number: int) -> int:
        one = schedule.operations[number]
        if one.kind == "calc":
            return begin(number) + one.size * 1000
        if one.kind == "recv":
            send = sender[number]
            return max(begin(number), begin(send) + took[send])
        return begin(number) if one.size <= eager else begin(number) + took[number]

    return {send: begin(send) for send in schedule.matches}


def evaluated(steps: Steps, took: list[int]) -> list[int]:
    """When each flow begins, if flow n takes took[n]."""
    starts: dict[int, int] = {}

    @functools.cache
    def when(moment: Any) -> int:
        step, delay = moment
        if step is None:
            return int(delay)
        if step >= traffic.POINT:
            return max(when(one) for one in steps.points[step - traffic.POINT]) + int(delay)
        return start(step) + took[step] + int(delay)

    def start(flow: int) -> int:
        if flow not in starts:
            starts[flow] = when(steps.begins[flow])
        return starts[flow]

    return [start(flow) for flow in range(len(took))]


def drawn(seed: int) -> str:
    """A schedule without deadlock: what is written waits only for what was drawn before it."""
    draw = random.Random(seed)  # noqa: S311 (no secret)
    ranks = draw.randint(2, 4)
    blocks: list[list[str]] = [[] for _ in range(ranks)]
    labels: list[list[str]] = [[] for _ in range(ranks)]

    def add(rank: int, text: str) -> None:
        label = f"l{len(labels[rank])}"
        blocks[rank].append(f"{label}: {text}")
        for other in draw.sample(labels[rank], min(len(labels[rank]), draw.randint(0, 2))):
            blocks[rank].append(f"{label} {draw.choice(['requires', 'irequires'])} {other}")
        labels[rank].append(label)

    for _ in range(draw.randint(1, 9)):
        src, dst = draw.sample(range(ranks), 2)
        size, tag = draw.randint(1, 3000), draw.randint(0, 1)
        if draw.random() < 0.5:
            add(draw.randrange(ranks), f"calc {draw.randint(0, 5)} cpu {draw.randint(0, 1)}")
        add(src, f"send {size}b to {dst} tag {tag}")
        add(dst, f"recv 3000b from {src} tag {tag}")
    return goal.write(ranks, blocks)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0, 1000]))
def test_steps_come_when_the_definition_says(seed: int, eager: int) -> None:
    """Random schedules: begins of sends are those of a recursion over what GOAL says."""
    schedule, mistakes = goal.read(drawn(seed))
    assert mistakes == ()
    assert schedule is not None
    steps = Steps(schedule, eager, ())
    sends = sorted(schedule.matches)
    took = {send: 700 + 13 * schedule.operations[send].size for send in sends}
    expected = second_model(schedule, eager, took)
    assert evaluated(steps, [took[send] for send in sends]) == [expected[send] for send in sends]


# ---------------------------------------------------------------------------------------------
# What is written, is read as the same


PHASES = [
    {"name": "a", "operation": "all_reduce", "size": "6KB", "step_delay": "1us", "delay": "3us"},
    {"name": "b", "operation": "all_to_all", "size": "60KB", "group_size": 3, "after": ["a"]},
    {
        "name": "c",
        "operation": "broadcast",
        "size": "6KB",
        "chunks": 2,
        "after": ["b"],
        "delay": "5us",
    },
]


def begins(flows: traffic.Flows) -> list[tuple[int, int, int, int]]:
    """Source, destination, size and begin of each flow, if a byte takes 10 ns."""
    after: dict[int, list[tuple[int, int]]] = {}
    for waiter, other, delay in edges(flows) if flows.waits else ():
        after.setdefault(waiter, []).append((other, delay))
    ends: dict[int, int] = {}
    found = []

    def end(flow: int) -> int:
        if flow not in ends:
            moments = [end(other) + delay for other, delay in after.get(flow, ())]
            begin = max([int(flows.starts[flow]), *moments])
            size = int(flows.sizes[flow])
            ends[flow] = begin + 10_000 * size
            found.append((int(flows.src[flow]), int(flows.dst[flow]), size, begin))
        return ends[flow]

    for flow in range(len(flows)):
        end(flow)
    return sorted(found)


@pytest.mark.parametrize(
    "entry",
    [
        {"kind": "collective", "collectives": PHASES, "repeat": 2, "start": "2us"},
        {"kind": "collective", "collectives": [PHASES[0] | {"jitter": "0us"}]},
        {"kind": "all_to_all", "size": "2KB", "start": "7us"},
        {"kind": "goal", "schedule": PING_PONG, "start": "1us"},
    ],
)
def test_what_is_written_is_read_as_the_same(entry: dict[str, Any]) -> None:
    """The same messages, which begin at the same times whatever a byte takes."""
    flows = make(entry)
    text, _ = goal_of_flows(flows, STAR.names)
    used = np.unique(np.concatenate([flows.src, flows.dst])).tolist()
    hosts = [STAR.names[node] for node in used]
    again = make({"kind": "goal", "schedule": text, "hosts": hosts})
    assert begins(again) == begins(flows)
    assert goal_of_flows(again, STAR.names)[0].count("send") == len(flows)


def test_hundreds_of_starts_of_a_host_come_back() -> None:
    """More than a rank has CPUs: one after another on one; a fraction of a ns is told."""
    starts = [3_000_000 * ((7 * number) % 300) for number in range(300)]
    flows = make({"kind": "messages", "messages": _listed([f"{start}ps" for start in starts])})
    text, told = goal_of_flows(flows, STAR.names)
    again = make({"kind": "goal", "schedule": text, "hosts": ["h0", "h1"]})
    assert again.starts.tolist() == starts
    assert told == []
    assert text.count(" cpu 0") == text.count(" cpu ") == 299
    flows = make({"kind": "messages", "messages": _listed(["400ps", "1600ps", "2us"])})
    text, told = goal_of_flows(flows, STAR.names)
    again = make({"kind": "goal", "schedule": text, "hosts": ["h0", "h1"]})
    assert again.starts.tolist() == [0, 2000, 2_000_000]
    assert told == ["2 times are no whole ns: they are rounded"]


def test_delays_after_hundreds_of_messages_come_back() -> None:
    """Each has a CPU of its own, and it is said that the binary form has fewer."""
    messages = _listed(["0us"] * 600)
    for number in range(300, 600):
        messages[number] |= {"after": [f"m{number - 300}"], "delay": f"{600 - number}us"}
    flows = make({"kind": "messages", "messages": messages})
    text, told = goal_of_flows(flows, STAR.names)
    again = make({"kind": "goal", "schedule": text, "hosts": ["h0", "h1"]})
    assert begins(again) == begins(flows)
    assert told == ["a rank has 300 CPUs, and LogGOPSim's binary form 256"]


def _listed(starts: list[str]) -> list[dict[str, Any]]:
    """Return messages of 1 KB from h0 to h1 at these times, called m0, m1, ..."""
    ends = {"src": "h0", "dst": "h1", "size": "1KB"}
    return [{**ends, "start": start, "id": f"m{n}"} for n, start in enumerate(starts)]


def test_what_goal_cannot_say_is_refused() -> None:
    """Flows without end, and a rank that waits for what it has no part in."""
    with pytest.raises(UserError, match="end with no message"):
        goal_of_flows(make({"kind": "greedy", "src": "h0", "dst": "h1"}), STAR.names)
    strangers = [
        {"name": "a", "operation": "all_reduce", "size": "6KB", "hosts": "h0..h2"},
        {"name": "b", "operation": "all_reduce", "size": "6KB", "hosts": "h3..h5", "after": ["a"]},
    ]
    with pytest.raises(UserError, match="only other ranks can know"):
        goal_of_flows(make({"kind": "collective", "collectives": strangers}), STAR.names)


@pytest.mark.cpp
def test_times_in_the_simulator_are_the_closed_forms(tmp_path: Path) -> None:
    """Ping and pong take 0.5 us, a message, 2 us and a message; a straggler computes longer."""
    text = IDEAL.replace(
        IDEAL[IDEAL.index("[[traffic]]") :],
        """
[[traffic]]
kind = "goal"
connection = "message"
label = "job"
file = "ping.goal"
start = "1us"
[[metric]]
name = "whole"
kind = "collective_time"
traffic = "job"
[variants.plain]
[variants.slow]
"traffic.job.stragglers" = [{ hosts = "h1", slowdown = 2 }]
""",
    )
    (tmp_path / "ping.goal").write_text(
        PING_PONG.replace("1000b", "50000b").replace("20b", "1000b")
    )
    done, results = run(tmp_path, text)
    assert done.returncode == 0, done.stderr
    (table,) = results.rglob("runs.parquet")
    runs = pd.read_parquet(table).set_index("variant")
    plain = across(50) + 2 * 10**6 + across(1)
    assert (runs.loc["plain", "whole"], runs.loc["slow", "whole"]) == (plain, plain + 2 * 10**6)
    assert ACK > 0


@pytest.mark.cpp
def test_ten_lines_are_a_study(tmp_path: Path) -> None:
    """The experiment of docs/goal.md, with the part that `init` brings, answers what is asked."""
    root = Path(__file__).parents[2]
    page = (root / "docs" / "goal.md").read_text()
    text = page[page.index('title = "My job') :]
    part = tmp_path / "parts" / "job.toml"
    part.parent.mkdir()
    part.write_text((root / "experiments" / "ai" / part.relative_to(tmp_path)).read_text())
    (tmp_path / "job.goal").write_text(PING_PONG)
    done, results = run(tmp_path, text[: text.index("```")])
    assert done.returncode == 0, done.stderr
    (table,) = results.rglob("runs.parquet")
    (one,) = pd.read_parquet(table).to_dict("records")
    # 0.5 us, and under one leaf 1,000 B and 20 B over two links, and 2 us between, without a loss
    assert one["whole"] == 500_000 + across(1) + 2 * 10**6 + 2 * 10**6 + 2 * (88 * 80)
    assert [one[name] for name in ("pauses", "collisions", "sharing", "stragglers")] == [0, 0, 0, 0]
    (lost,) = results.rglob("lost.csv")
    assert pd.read_csv(lost)["lost_ps"].tolist() == [0]
    assert list(results.rglob("timeline.png"))
    (load,) = results.rglob("load.csv")
    links = pd.read_csv(load).set_index(["node", "peer"])
    # 1,000 B one way and 20 B the other, in frames of 1,068 B and 88 B on the wire
    for node, peer, size in (("h0", "leaf0", 1068), ("leaf0", "h1", 1068), ("h1", "leaf0", 88)):
        assert links.loc[(node, peer), "bytes"] == size
    assert links["bytes"].sum() == 2 * (1068 + 88)


def test_ranks_that_compute_without_end_are_refused() -> None:
    """Each calc is short enough, but times in ps are no numbers of 64 bits."""
    steps = "".join(f"a{n}: calc 999999999999999\n" for n in range(20))
    order = "".join(f"a{n + 1} requires a{n}\n" for n in range(19))
    rest = "s: send 10b to 1\ns requires a19\n}\nrank 1 {\nr: recv 10b from 0\n}\n"
    text = f"num_ranks 2\nrank 0 {{\n{steps}{order}{rest}"
    _, (told,) = resolve({"kind": "goal", "schedule": text}, STAR)
    assert told.startswith("schedule: rank 0 computes for 2e+16 ns")
    once = text.replace("999999999999999", "9999999999999")
    assert resolve({"kind": "goal", "schedule": once}, STAR)[0] is not None
    late = {"stragglers": [{"hosts": ["h0"], "slowdown": 100}]}
    assert resolve({"kind": "goal", "schedule": once, **late}, STAR)[0] is None
