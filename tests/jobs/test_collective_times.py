"""Times of collectives: closed forms, a second model packet by packet, and the real simulator."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from pyorch.addons.jobs.collectives import zipf_blocks
from tests.cli.test_end_to_end import run
from tests.star import ACK, BYTE, DELAY, HEADERS, PAYLOAD, Message, across, times, wire

PACKET = (PAYLOAD + HEADERS) * BYTE
US = 10**6
KB = 1000

# ---------------------------------------------------------------------------------------------
# The algorithms, from their definitions; `parents` of a root is -1


def heap(ranks: int) -> list[int]:
    """Rank i is below rank (i-1) // 2."""
    return [-1, *((rank - 1) // 2 for rank in range(1, ranks))]


def in_order(ranks: int, first: int = 0, above: int = -1) -> list[int]:
    """The root has as many ranks before it as a full tree; both sides are such trees again."""
    if ranks == 0:
        return []
    before = (1 << (ranks.bit_length() - 1)) - 1
    root = first + before
    left = in_order(before, first, root)
    return [*left, above, *in_order(ranks - before - 1, root + 1, root)]


def two_trees(ranks: int) -> list[list[int]]:
    """A tree in order and its mirror, or, of an odd number of ranks, the same one rank further."""
    first = in_order(ranks)
    place = [ranks - 1 - n if ranks % 2 == 0 else (n + 1) % ranks for n in range(ranks)]
    second = [-1] * ranks
    for rank, above in enumerate(first):
        second[place[rank]] = place[above] if above >= 0 else -1
    return [first, second]


def below(parents: Sequence[int], rank: int) -> list[int]:
    """The children of a rank."""
    return [child for child, above in enumerate(parents) if above == rank]


def up_and_down(parents: Sequence[int], size: int, pause: int, first: int = 0) -> list[Message]:
    """Sums go up, and what the root then has goes down. first: number of the first message."""
    children = [rank for rank, above in enumerate(parents) if above >= 0]
    up = {rank: first + n for n, rank in enumerate(children)}
    down = {rank: first + len(children) + n for n, rank in enumerate(children)}

    def gathered(rank: int) -> list[tuple[int, int]]:
        return [(up[child], pause) for child in below(parents, rank)]

    def sent_down(rank: int) -> list[tuple[int, int]]:
        return [(down[rank], pause)] if rank in down else gathered(rank)

    return [
        *(Message(rank, parents[rank], size, gathered(rank)) for rank in children),
        *(Message(parents[rank], rank, size, sent_down(parents[rank])) for rank in children),
    ]


def double_tree(ranks: int, size: int, pause: int) -> list[Message]:
    """Each tree has half of the buffer."""
    first, second = two_trees(ranks)
    messages = up_and_down(first, size // 2, pause)
    return messages + up_and_down(second, size // 2, pause, len(messages))


def binomial(ranks: int, size: int, pause: int) -> list[Message]:
    """In each round all that have the buffer send it, each to one that has not."""
    messages: list[Message] = []
    last = [-1]  # by rank that has it: the message before its next one
    for rank in range(1, ranks):
        sender = rank - (1 << (rank.bit_length() - 1))
        waits = [(last[sender], pause)] if last[sender] >= 0 else []
        messages.append(Message(sender, rank, size, waits))
        last[sender] = rank - 1
        last.append(rank - 1)
    return messages


def ring(ranks: int, size: int, pause: int) -> list[Message]:
    """All-reduce: in each of 2(n-1) steps a rank passes on what it received in the last one."""
    return [
        Message(
            rank,
            (rank + 1) % ranks,
            size // ranks,
            [((step - 1) * ranks + (rank - 1) % ranks, pause)] if step else [],
        )
        for step in range(2 * ranks - 2)
        for rank in range(ranks)
    ]


def all_to_all(sizes: Sequence[int], pause: int, rounds: bool) -> list[Message]:
    """In round s rank i sends to i+s, if there are rounds when it has what came in the last."""
    ranks = len(sizes)

    def waits(rank: int, step: int) -> list[tuple[int, int]]:
        sender = (rank - step + 1) % ranks
        return [((step - 2) * ranks + sender, pause)] if rounds and step > 1 else []

    pairs = [(rank, step) for step in range(1, ranks) for rank in range(ranks)]
    ends = [(rank, (rank + step) % ranks, waits(rank, step)) for rank, step in pairs]
    return [Message(rank, dst, sizes[dst], before) for rank, dst, before in ends]


def in_chunks(one: Sequence[Message], chunks: int) -> list[Message]:
    """The messages of a chunk, for each: one begins after its counterpart in the last chunk."""
    return [
        Message(
            message.src,
            message.dst,
            message.size,
            [(after + chunk * len(one), delay) for after, delay in message.waits]
            + ([(number + (chunk - 1) * len(one), 0)] if chunk else []),
        )
        for chunk in range(chunks)
        for number, message in enumerate(one)
    ]


# ---------------------------------------------------------------------------------------------
# Closed forms: those of the docstrings of pyorch/addons/jobs/collectives.py, for whole packets


@dataclass(frozen=True)
class Way:
    """How messages go between ranks.

    across: time of a message, and of equal ones at once that meet at a port [ps]. first: that of
    the first of `count` that leave a rank at once.
    """

    across: Callable[[int], int]
    first: Callable[[int, int], int]


def first_of(count: int, size: int) -> int:
    """They take turns, but for the first two packets of the first one, which begins alone."""
    return across(count * size) - 2 * (count - 1) * PACKET


ON_STAR = Way(across, first_of)


def tree_time(parents: Sequence[int], size: int, pause: int, way: Way = ON_STAR) -> int:
    """All-reduce over a binary tree, a level at a time."""

    def sends(rank: int) -> int:
        """When it sends up."""
        return gathered(rank) + pause if below(parents, rank) else 0

    def gathered(rank: int) -> int:
        """When it has what its children send: one after the other if they meet at its port."""
        begins = sorted(sends(child) for child in below(parents, rank))
        return max(begins[-1] + way.across(size), begins[0] + way.across(len(begins) * size))

    def spread(rank: int) -> int:
        """Time from its first message down until all below have it."""
        children = below(parents, rank)
        ends = [way.first(len(children), size), way.across(len(children) * size)]
        return max(
            end + (pause + spread(child) if below(parents, child) else 0)
            for end, child in zip(ends, children, strict=False)
        )

    root = list(parents).index(-1)
    return gathered(root) + pause + spread(root)


def double_tree_time(ranks: int, size: int, pause: int) -> int:
    """That of the slower tree alone."""
    return max(tree_time(parents, size // 2, pause) for parents in two_trees(ranks))


def binomial_time(ranks: int, size: int, pause: int, way: Way = ON_STAR) -> int:
    """As many rounds as it takes to double the ranks that have it until all do."""
    rounds = (ranks - 1).bit_length()
    return rounds * way.across(size) + (rounds - 1) * pause


def ring_time(ranks: int, size: int, pause: int, chunks: int) -> int:
    """As long as no two messages meet at a port. size: of the whole buffer."""
    block, steps = size // (chunks * ranks), 2 * ranks - 2
    busy = block // PAYLOAD * PACKET
    assert pause >= busy
    assert min(chunks - 2, steps - 1) * pause + busy <= across(block)
    return (steps + chunks - 1) * across(block) + (steps - 1) * pause + (chunks - 1) * ACK


def direct_bound(sizes: Sequence[int]) -> int:
    """Rank 0 is asked most: all that it receives, one after the other, over its link."""
    packets = wire(sizes[0])
    return packets[0] + (len(sizes) - 1) * sum(packets) + 2 * DELAY


def pairwise_time(sizes: Sequence[int], pause: int) -> int:
    """As long as no two messages meet at a port: over ranks i, i+1, i+3, i+6, ..."""
    ranks = len(sizes)
    ways = (
        sum(across(sizes[(rank + n * (n + 1) // 2) % ranks]) for n in range(ranks - 1))
        for rank in range(ranks)
    )
    return max(ways) + (ranks - 2) * pause


# ---------------------------------------------------------------------------------------------
# The closed forms and the second model


@pytest.mark.parametrize("packets", [3, 10, 40, 100])
@pytest.mark.parametrize("pause", [US // 10, 3 * US])
@pytest.mark.slow
def test_trees_of_all_sizes_have_a_closed_form(packets: int, pause: int) -> None:
    """Whichever of the messages meet: of 2 to 13 ranks, and so also where a level is not full."""
    size = packets * KB
    for ranks in range(2, 14):
        found = max(times(up_and_down(heap(ranks), size, pause)))
        assert found == tree_time(heap(ranks), size, pause), ranks
        found = max(times(binomial(ranks, size, pause)))
        assert found == binomial_time(ranks, size, pause), ranks
        for parents in two_trees(ranks):
            found = max(times(up_and_down(parents, size, pause)))
            assert found == tree_time(parents, size, pause), ranks
        # both trees share the links of a rank, but hardly ever at the same time
        more = max(times(double_tree(ranks, 2 * size, pause)))
        more -= double_tree_time(ranks, 2 * size, pause)
        assert 0 <= more < 2 * PACKET, ranks
        assert more == 0 or ranks not in (2, 4, 7, 8), ranks


def test_a_full_tree_takes_as_long_up_as_down() -> None:
    """Of 2^h - 1 ranks: 2h a(2S) + (2h-1) p; of 5 to 8 ranks a broadcast: 3 a(S) + 2 p."""
    for levels in (1, 2, 3):
        closed = 2 * levels * across(80 * KB) + (2 * levels - 1) * US
        assert tree_time(heap((2 << levels) - 1), 40 * KB, US) == closed
    for ranks in (5, 8):
        assert binomial_time(ranks, 40 * KB, US) == 3 * across(40 * KB) + 2 * US


@pytest.mark.parametrize("ranks", [2, 3, 5, 8])
@pytest.mark.parametrize("skew", [0.3, 1.0, 1.5])
@pytest.mark.parametrize("size", [5, 20, 50, 400])
def test_a_skewed_all_to_all_takes_what_its_fullest_receiver_does(
    ranks: int, skew: float, size: int
) -> None:
    """Its link is never idle; before the end it carries at most n-1 answers, too."""
    sizes = zipf_blocks(size * KB, ranks, skew).tolist()
    answers = (max(times(all_to_all(sizes, 0, rounds=False))) - direct_bound(sizes)) / ACK
    assert answers in range(ranks)
    if size == 5:
        assert answers == 0
    if size == 400 and skew >= 1:
        assert answers == ranks - 1


@pytest.mark.parametrize("skew", [0.0, 0.5, 1.0, 2.0])
def test_skewed_blocks_follow_zipf(skew: float) -> None:
    """Block k is (k+1)^-skew of the whole, but for the byte that each has at least."""
    sizes = zipf_blocks(10**6, 8, skew).tolist()
    whole = sum((n + 1) ** -skew for n in range(8))
    assert sum(sizes) == 10**6
    assert sizes == sorted(sizes, reverse=True) or skew == 0
    for number, size in enumerate(sizes):
        assert size == pytest.approx(10**6 * (number + 1) ** -skew / whole, abs=10)
    assert zipf_blocks(8, 8, skew).tolist() == [1] * 8


# ---------------------------------------------------------------------------------------------
# The real simulator

STAR = """
title = "collectives on an ideal star"
port.pause_response = "ideal"
[run]
simulator = "ns3::eventloop::EventLoop"
duration = "1ms"
stop_when_done = true
[topology]
kind = "star"
hosts = 12
rate = "100Gbps"
delay = "1us"
[queue_pair]
ack_every = 1000000
[[traffic]]
kind = "collective"
connection = "message"
label = "job"
collectives = [{ name = "one", operation = "all_reduce", size = "50KB" }]
[[metric]]
name = "whole"
kind = "collective_time"
traffic = "job"
"""


@dataclass(frozen=True)
class Case:
    """keys: of the collective. messages: what it does. closed: its time [ps]; None: no form."""

    keys: dict[str, Any]
    messages: list[Message]
    closed: int | None = None


def case(
    named: str, ranks: int, size: int, pause: int, messages: list[Message], **more: Any
) -> Case:
    """size: KB. pause: us."""
    operation, algorithm = named.split()
    closed = more.pop("closed", None)
    keys = {"name": "one", "operation": operation, "algorithm": algorithm, "size": f"{size}KB"}
    keys |= {"hosts": f"h0..h{ranks - 1}", "step_delay": f"{pause}us"}
    return Case(keys | more, messages, closed)


def cases() -> dict[str, Case]:
    """All that are simulated."""
    found = {}
    for ranks in (2, 3, 5, 7, 8):
        size, pause = 40 * KB, 3 * US
        found[f"tree-{ranks}"] = case(
            *("all_reduce tree", ranks, 40, 3, up_and_down(heap(ranks), size, pause)),
            closed=tree_time(heap(ranks), size, pause),
        )
        found[f"double-{ranks}"] = case(
            *("all_reduce double_tree", ranks, 40, 3, double_tree(ranks, size, pause)),
            closed=double_tree_time(ranks, size, pause),
        )
        found[f"binomial-{ranks}"] = case(
            *("broadcast binomial", ranks, 40, 3, binomial(ranks, size, pause)),
            closed=binomial_time(ranks, size, pause),
        )
        halves = in_chunks(double_tree(ranks, 20 * KB, pause), 4)
        found[f"double-chunks-{ranks}"] = case(
            "all_reduce double_tree", ranks, 80, 3, halves, chunks=4
        )
    # the sums of ranks 1 and 2 meet at the port to rank 0
    met = up_and_down(heap(8), 100 * KB, US)
    closed = tree_time(heap(8), 100 * KB, US)
    found["tree-met"] = case("all_reduce tree", 8, 100, 1, met, closed=closed)
    # rank 2 has an answer while data come to it
    met = double_tree(3, 200 * KB, 3 * US)
    closed = double_tree_time(3, 200 * KB, 3 * US) + ACK
    found["double-met"] = case("all_reduce double_tree", 3, 200, 3, met, closed=closed)
    found["double-met-more"] = case(
        "all_reduce double_tree", 12, 80, 3, double_tree(12, 80 * KB, 3 * US)
    )
    for ranks, chunks, size, pause, apart in (
        (2, 4, 80, 1, True),
        (3, 2, 30, 1, True),
        (5, 3, 30, 1, True),
        (3, 4, 480, 1, False),
        (8, 8, 640, 3, False),
        (5, 4, 200, 0, False),
    ):
        messages = in_chunks(ring(ranks, size * KB // chunks, pause * US), chunks)
        closed_form = ring_time(ranks, size * KB, pause * US, chunks) if apart else None
        found[f"ring-chunks-{ranks}-{size}"] = case(
            *("all_reduce ring", ranks, size, pause, messages), chunks=chunks, closed=closed_form
        )
    for ranks, skew, size, answers in ((5, 0.3, 20, 0), (5, 1.0, 400, 4), (8, 1.5, 400, 7)):
        sizes = zipf_blocks(size * KB, ranks, skew).tolist()
        found[f"direct-{ranks}-{size}"] = case(
            *("all_to_all direct", ranks, size, 1, all_to_all(sizes, 0, rounds=False)),
            closed=direct_bound(sizes) + answers * ACK,
            skew=skew,
        )
    for ranks, skew, size, apart in ((5, 0.8, 50, True), (8, 0.8, 50, True), (3, 1.0, 400, False)):
        sizes = zipf_blocks(size * KB, ranks, skew).tolist()
        found[f"pairwise-{ranks}-{size}"] = case(
            *("all_to_all pairwise", ranks, size, 1, all_to_all(sizes, US, rounds=True)),
            closed=pairwise_time(sizes, US) if apart else None,
            skew=skew,
        )
    return found


def simulated(folder: Path, text: str, found: dict[str, Case]) -> dict[str, int]:
    """The time of each case [ps]."""
    for name, one in found.items():
        keys = ", ".join(f"{key} = {json.dumps(value)}" for key, value in one.keys.items())
        text += f'[variants.{name}]\n"traffic.job.collectives" = [{{ {keys} }}]\n'
    done, results = run(folder, text)
    assert done.returncode == 0, done.stderr
    (table,) = results.rglob("runs.parquet")
    runs = pd.read_parquet(table).set_index("variant")
    return {name: int(runs.loc[name, "whole"]) for name in found}


@pytest.mark.cpp
def test_collectives_take_what_was_computed_by_hand(tmp_path: Path) -> None:
    """To the picosecond: the second model, and the closed form where there is one."""
    found = cases()
    seen = simulated(tmp_path, STAR, found)
    assert seen == {name: max(times(one.messages)) for name, one in found.items()}
    closed = {name: one.closed for name, one in found.items() if one.closed is not None}
    assert closed == {name: seen[name] for name in closed}
    # where steps take turns: not before the link of each rank has carried all of its blocks
    assert seen["ring-chunks-8-640"] > across(14 * 80 * KB)


RATE, LATENCY = 400 * 10**9, 500_000
SERVER = STAR.replace("hosts = 12", "hosts = 8").replace(
    'delay = "1us"',
    'delay = "1us"\nhosts_per_server = 8\n'
    f'scale_up = {{ rate = "{RATE}bps", delay = "{LATENCY}ps" }}',
)


def inside(size: int) -> int:
    """Time of a message in a scale-up domain, and of equal ones on one link of it [ps]."""
    return LATENCY + size * 8 * 10**12 // RATE


IN_SERVER = Way(inside, lambda _count, size: inside(size))  # they go one after the other


@pytest.mark.cpp
def test_collectives_in_a_server_take_closed_forms_of_all_sizes(tmp_path: Path) -> None:
    """Of a skewed all-to-all exactly what the fullest receiver takes: no answer is in its way."""
    found = {}
    for ranks in (2, 3, 5, 7, 8):
        parents, size, pause = heap(ranks), 40 * KB, 3 * US
        found[f"tree-{ranks}"] = case(
            *("all_reduce tree", ranks, 40, 3, []),
            closed=tree_time(parents, size, pause, IN_SERVER),
        )
        found[f"double-{ranks}"] = case(
            *("all_reduce double_tree", ranks, 40, 3, []),
            closed=max(tree_time(t, size // 2, pause, IN_SERVER) for t in two_trees(ranks)),
        )
        found[f"binomial-{ranks}"] = case(
            *("broadcast binomial", ranks, 40, 3, []),
            closed=binomial_time(ranks, size, pause, IN_SERVER),
        )
        for skew in (0.3, 1.5):
            fullest = zipf_blocks(size, ranks, skew).tolist()[0]
            found[f"direct-{ranks}-{10 * skew:.0f}"] = case(
                *("all_to_all direct", ranks, 40, 3, []),
                closed=inside((ranks - 1) * fullest),
                skew=skew,
            )
    seen = simulated(tmp_path, SERVER, found)
    assert seen == {name: one.closed for name, one in found.items()}
