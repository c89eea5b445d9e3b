"""Collectives as NCCL sends them: in channels and slices, with a few slices under way.

The buffer is divided among channels. A channel takes its share in loops; in each, every message of
the algorithm is cut into slices, and a rank sends in this order: by loop, by step of the algorithm,
by slice. A slice leaves when the one before it on its connection has left, what it contains has
arrived, and the receiver has said that it has room (clear to send: a message of CLEAR_BYTES the
other way). The receiver has room for `in_flight` slices of a connection; a slice makes room when
what is made of it leaves, or, if nothing is, when it arrives.

From NCCL 2.30 (src/device, src/enqueue.cc, src/transport/net_ib): connections have 8 slots of
512 KiB; a slice of a ring is 2 slots and a chunk 2 slices, elsewhere both are a slot; a slice has
at least 1/32 of its nominal size. Protocol LL has slots of 64 KiB, half of it flags, LL128 of
614,400 B, 16 for each 15 of data; both have slices of a slot and chunks of a slice. What clears to
send is one ncclIbSendFifo, of 64 B, for each receive.
Ours: parts of a buffer differ by a byte at most, where NCCL rounds up to 16 bytes.

Throughput of a channel between two ranks: the least of the link's and in_flight x slice / (a(slice)
+ a(CLEAR_BYTES) + step_cost), with a(x) as in `collectives`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pyorch.addons.jobs.collectives import Algorithm, Call, blocks
from pyorch.traffic.base import POINT

CLEAR_BYTES = 64
SLOTS = 8
"""Of a connection."""
_PLATEAU_BYTES = 64
"""Of a rank and channel: from here on a ring over several servers is slower to start."""
LEAST_SHARE = 32
"""A slice has at least this part of its nominal size, unless it is all there is."""
Numbers = npt.NDArray[np.int64]
TUNED = "tuned"
"""Name that stands for the algorithm that NCCL would choose."""


class Latency(NamedTuple):
    """Of an algorithm: before it, and of each hop over NVLink and over the network [us]."""

    base: float
    inside: float
    across: float


@dataclass(frozen=True)
class Protocol:
    """How NCCL sends data: in lines of `line` bytes with `data` bytes, at most `slot` in a slice.

    ring, tree: latencies. trees: the share of a tree's bandwidth with 64, 128, 256, ... bytes.
    """

    line: int
    data: int
    slot: int | None
    ring: Latency
    tree: Latency
    trees: tuple[float, ...]

    def wire(self, sizes: Numbers) -> Numbers:
        """Return the bytes that are sent for bytes of data."""
        return -(-sizes // self.data) * self.line


SIMPLE = "simple"
PROTOCOLS = {
    "ll": Protocol(
        8, 4, 32 * 1024, Latency(6.6, 0.6, 2.7), Latency(6.8, 0.6, 5),
        (1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1),
    ),
    "ll128": Protocol(
        128, 120, 576_000, Latency(14, 1.9, 4), Latency(14, 1.25, 8.5),
        (1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1),
    ),
    SIMPLE: Protocol(
        1, 1, None, Latency(8.4, 3.4, 14), Latency(8.4, 4, 14),
        (.9,) * 7 + (.8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9),
    ),
}  # fmt: skip
_MOST_LL = (141e3, 39e3, 20.4e3)
"""Bandwidth of LL in one, two, and more servers [B/us], of Hopper and Intel's processors."""
_POSTED = {"ll": 1, "ll128": 1, SIMPLE: 3}
"""Least time of a hop inside a server, where a ring also crosses the network [us]."""


def chooses(operation: str) -> bool:
    """Whether NCCL has a choice of algorithms for an operation."""
    return operation == "all_reduce"


@dataclass(frozen=True)
class Group:
    """Ranks, over so many servers, and what carries their collective in so many channels.

    rate: of all links out of a server together, or, of one server, of a rank's link [bit/s].
    """

    ranks: int
    servers: int
    rate: int
    channels: int = 1

    def ring(self, size: int, name: str) -> float:
        """Return the time of a ring all-reduce by a protocol [us]. size: bytes."""
        protocol, most = PROTOCOLS[name], self.rate / 8e6
        steps, crossings = 2 * (self.ranks - 1), 2 * (self.servers - 1)
        # with one rank a server nothing hides the latency: NCCL takes that of a tree
        across = (protocol.tree if self.ranks == self.servers else protocol.ring).across
        inside = max(protocol.ring.inside, _POSTED[name] if self.servers > 1 else 0)
        latency = protocol.ring.base + (steps - crossings) * inside + crossings * across
        plateau = self.servers > 1 and size // (self.channels * self.ranks) >= _PLATEAU_BYTES
        latency *= 1.4 if name == SIMPLE and plateau else 1
        share = {SIMPLE: most, "ll": min(most / 2, self._most_ll), "ll128": 0.92 * most}
        return latency + size * steps / self.ranks / share[name]

    def double_tree(self, size: int, name: str) -> float:
        """Return the time of an all-reduce over a double tree by a protocol [us]. size: bytes."""
        protocol, most = PROTOCOLS[name], 0.92 * self.rate / 8e6
        hops = (self.ranks // self.servers - 1) * protocol.tree.inside
        hops += (self.servers.bit_length() - 1) * protocol.tree.across
        alone = self.servers == 1
        share = {SIMPLE: most, "ll": min(most / 3.8, self._most_ll)}
        share["ll128"] = most * (7 / 9 if alone else 120 / 128)
        power = (size // 64).bit_length() - 1
        known = protocol.trees[power] if 0 <= power < len(protocol.trees) else 1
        return protocol.tree.base + 2 * hops + 2 * size / (share[name] * known)

    @property
    def _most_ll(self) -> float:
        return _MOST_LL[min(self.servers, len(_MOST_LL)) - 1]


def tuned(group: Group, size: int, protocols: Iterable[str] = PROTOCOLS) -> tuple[str, str]:
    """Return the algorithm and the protocol of an all-reduce that NCCL's model of costs prefers.

    From src/graph/tuning.cc: latencies, 40 % more for a ring over several servers, shares of
    bandwidth, and the correction of trees by size. LL128 is taken as enabled. Left out: NVLS,
    CollNet, and limits of a channel's bandwidth by generations of GPUs.
    """
    times = {}
    for name in protocols:
        times["ring", name] = group.ring(size, name)
        times["double_tree", name] = group.double_tree(size, name)
    return min(times, key=lambda which: times[which])


@dataclass(frozen=True)
class Slicing:
    """How a collective is sliced.

    channels: from 1. slice: bytes. in_flight: slices of a channel from one rank to another.
    """

    channels: int
    slice: int
    in_flight: int


@dataclass(frozen=True)
class Sliced:
    """A collective in slices: `leaving` slices, and behind them as many clear-to-send messages.

    src, dst: ranks; sizes: bytes; channels: those of clear-to-send messages are their own; all of
    the shape (2 leaving,). Slice i leaves at point POINT + i. waiters, after: shape (edges,),
    numbers of messages or points; reduces, clears: which of these waits are for what a slice
    contains, and for a clear-to-send message.
    """

    src: Numbers
    dst: Numbers
    sizes: Numbers
    channels: Numbers
    waiters: Numbers
    after: Numbers
    reduces: npt.NDArray[np.bool_]
    clears: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.src)

    @property
    def leaving(self) -> int:
        """Number of slices."""
        return len(self.src) // 2

    def ranks_of(self, ids: Numbers) -> Numbers:
        """Return the senders of messages, or of the slices that leave at points."""
        return np.asarray(self.src[np.where(ids >= POINT, ids - POINT, ids)])


def default_in_flight(algorithm: Algorithm) -> int:
    """Return how many slices fill the slots of a connection."""
    return SLOTS // algorithm.slices if algorithm.slices > 1 else SLOTS


def least_in_flight(algorithm: Algorithm) -> int:
    """Return how many slices must be under way, lest ranks in a circle wait for each other."""
    return algorithm.slices + 1


def count(algorithm: Algorithm, call: Call, slicing: Slicing) -> int:
    """Return the number of messages without making them."""
    pieces = 0
    for size in blocks(call.size, slicing.channels).tolist():
        full, most, last = _loops(algorithm, call, slicing, size)
        pieces += full * _pieces(algorithm, call, slicing, most)
        pieces += _pieces(algorithm, call, slicing, last)
    return 2 * pieces * algorithm.count(call)


def _loops(algorithm: Algorithm, call: Call, slicing: Slicing, size: int) -> tuple[int, int, int]:
    """Return the loops of a channel's share: how many of how many bytes, and bytes of the last."""
    parts = algorithm.parts(call)
    most = parts * algorithm.slices * slicing.slice
    full, rest = divmod(size, most)
    if full and rest < parts:  # each block has a byte at least
        return full - 1, most, most + rest
    return full, most, rest


def _pieces(algorithm: Algorithm, call: Call, slicing: Slicing, loop: int) -> int:
    """Return the number of slices of a loop of so many bytes, in each of its blocks."""
    parts = algorithm.parts(call)
    block = -(-loop // parts)
    least = -(-slicing.slice // LEAST_SHARE)
    piece = min(max(-(-block // algorithm.slices), least), block)
    return min(-(-block // piece), algorithm.slices, loop // parts)


def sliced(algorithm: Algorithm, call: Call, slicing: Slicing) -> Sliced:
    """Return the messages of a call; each channel begins with another rank of each server."""
    made = cache(lambda size: algorithm.make(replace(call, size=size)))
    rank = np.arange(call.ranks, dtype=np.int64)
    columns: list[tuple[Numbers, ...]] = []
    edges: list[tuple[Numbers, Numbers]] = []
    begin = 0
    for channel, share in enumerate(blocks(call.size, slicing.channels).tolist()):
        full, most, last = _loops(algorithm, call, slicing, share)
        turned = rank // call.local * call.local + (rank % call.local + channel) % call.local
        for loop in [*[most] * full, last]:
            number = _pieces(algorithm, call, slicing, loop)
            pieces = blocks(loop, number).tolist()
            one = made(pieces[0])
            sizes = np.stack([made(size).sizes for size in pieces], axis=1).ravel()
            ends = (np.repeat(turned[of], number) for of in (one.src, one.dst))
            columns.append((*ends, sizes, np.full(len(sizes), channel, dtype=np.int64)))
            piece = np.arange(number, dtype=np.int64)
            waiters, after = (
                (of[:, None] * number + piece + begin).ravel() for of in (one.waiters, one.after)
            )
            edges.append((waiters, after))
            begin += len(sizes)
    src, dst, sizes, of_channel = (np.concatenate(column) for column in zip(*columns, strict=True))
    waiters, after = (np.concatenate(column) for column in zip(*edges, strict=True))
    return _with_room(src, dst, sizes, of_channel, (waiters, after), slicing)


def _with_room(
    src: Numbers,
    dst: Numbers,
    sizes: Numbers,
    channels: Numbers,
    contents: tuple[Numbers, Numbers],
    slicing: Slicing,
) -> Sliced:
    """Add the order of the slices of each connection, and what says that there is room for them.

    contents: waits of slices for slices that they contain.
    """
    number = np.arange(len(src), dtype=np.int64)
    _, connection = np.unique(np.stack([channels, src, dst]), axis=1, return_inverse=True)
    in_order = np.argsort(connection.reshape(-1), kind="stable")
    ordered = connection.reshape(-1)[in_order]

    def pairs(apart: int) -> tuple[Numbers, Numbers]:
        """Slices of a connection, and those so many before them."""
        same = ordered[apart:] == ordered[:-apart]
        return in_order[apart:][same], in_order[:-apart][same]

    behind, before = pairs(1)
    filling, freeing = pairs(slicing.in_flight)
    waiters, after = contents
    by_content = np.argsort(after, kind="stable")
    first, last = (np.searchsorted(after[by_content], freeing, side) for side in ("left", "right"))
    made = last - first
    entry = np.repeat(first - np.cumsum(made) + made, made) + np.arange(made.sum())
    clear = number + len(number)
    edges = [
        (number, number + POINT),
        (behind + POINT, before + POINT),
        (waiters + POINT, after),
        (number + POINT, clear),
        (clear[np.repeat(filling, made)], waiters[by_content[entry]] + POINT),
        (clear[filling[made == 0]], freeing[made == 0]),
    ]
    kind = np.repeat(np.arange(len(edges)), [len(one) for one, _ in edges])
    return Sliced(
        np.concatenate([src, dst]),
        np.concatenate([dst, src]),
        np.concatenate([sizes, np.full(len(sizes), CLEAR_BYTES, dtype=np.int64)]),
        np.concatenate([channels, channels + slicing.channels]),
        np.concatenate([one for one, _ in edges]),
        np.concatenate([other for _, other in edges]),
        kind == 2,
        kind == 3,
    )
