"""Collectives as NCCL sends them: in channels and slices, with a few slices under way.

The buffer is divided among channels. A channel takes its share in loops; in each, every message of
the algorithm is cut into slices, and a rank sends in this order: by loop, by step of the algorithm,
by slice. A slice leaves when the one before it on its connection has left, what it contains has
arrived, and the receiver has said that it has room (clear to send: a message of CLEAR_BYTES the
other way). The receiver has room for `in_flight` slices of a connection; a slice makes room when
what is made of it leaves, or, if nothing is, when it arrives.

From NCCL 2.30 (src/device, src/enqueue.cc, src/transport/net_ib): connections have 8 slots of
512 KiB; a slice of a ring is 2 slots and a chunk 2 slices, elsewhere both are a slot; a slice has
at least 1/32 of its nominal size. The size of a clear-to-send message is recalled, not verified.
Ours: parts of a buffer differ by a byte at most, where NCCL rounds up to 16 bytes.

Throughput of a channel between two ranks: the least of the link's and in_flight x slice / (a(slice)
+ a(CLEAR_BYTES) + step_cost), with a(x) as in `collectives`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from math import log2

import numpy as np
import numpy.typing as npt

from pyorch.addons.jobs.collectives import Algorithm, Call, blocks
from pyorch.traffic.base import POINT

CLEAR_BYTES = 64
SLOTS = 8
"""Of a connection."""
LEAST_SHARE = 32
"""A slice has at least this part of its nominal size, unless it is all there is."""
Numbers = npt.NDArray[np.int64]
TUNED = "tuned"
"""Name that stands for the algorithm that NCCL would choose."""
_BASE_US = 8.4
_NVLINK_US = {"ring": 3.4, "double_tree": 4.0}
_NETWORK_US = 14.0
_PLATEAU = 1.4
_TREE_SHARE = 0.92


def chooses(operation: str) -> bool:
    """Whether NCCL has a choice of algorithms for an operation."""
    return operation == "all_reduce"


def tuned(ranks: int, servers: int, size: int, rate: int) -> str:
    """Return the algorithm of an all-reduce that NCCL's model of costs prefers.

    ranks: of a group, over so many servers. size: bytes. rate: of a NIC [bit/s].

    From src/graph/tuning.cc, protocol Simple: base latency, latency of each hop over NVLink and
    network, and 40 % more for a ring over several servers. Recalled: the bandwidth of a tree is
    92 % of the link's. Left out: the table that corrects trees by size, the other NICs of a server
    and their channels, the bandwidth inside servers (a scale-up domain), and protocols LL, LL128.
    """
    steps, across = 2 * (ranks - 1), 2 * (servers - 1)
    ring = _BASE_US + (steps - across) * _NVLINK_US["ring"] + across * _NETWORK_US
    ring *= _PLATEAU if servers > 1 else 1
    inside = ranks // servers - 1
    tree = _BASE_US + 2 * (inside * _NVLINK_US["double_tree"] + log2(servers) * _NETWORK_US)
    sent = size * 8e6 / rate
    times = {
        "ring": ring + sent * 2 * (ranks - 1) / ranks,
        "double_tree": tree + sent * 2 / _TREE_SHARE,
    }
    return min(times, key=lambda name: times[name])


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
