"""Collective communication as transfers between ranks, of which each waits for others.

An algorithm is one function from a number of ranks and a size to `Transfers`, registered with
@algorithm, which also says how many they are. The algorithms are those of MPI and NCCL: Thakur,
Rabenseifner, Gropp, "Optimization of Collective Communication Operations in MPICH", IJHPCA 2005,
sections 3 and 4; the ring all-reduce is that of Patarasuk and Yuan, JPDC 2009.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Transfers:
    """Messages between ranks, and what they wait for.

    src, dst: ranks, sizes: bytes; all of the shape (transfers,). waiters, after: shape (edges,):
    transfer `waiters[i]` begins when transfer `after[i]` has arrived.
    """

    src: Numbers
    dst: Numbers
    sizes: Numbers
    waiters: Numbers
    after: Numbers

    def __len__(self) -> int:
        return len(self.src)


Make = Callable[[int, int], Transfers]
"""(ranks, from 2; size [bytes]) -> transfers."""
OfRanks = Callable[[int], int]
"""A number that follows from the number of ranks."""


@dataclass(frozen=True)
class Algorithm:
    """An algorithm, and what can be said of it without making its transfers.

    count: transfers. first: those that wait for no other. parts: blocks a size is cut into.
    """

    make: Make
    count: OfRanks
    first: OfRanks
    parts: OfRanks


ALGORITHMS: dict[tuple[str, str], Algorithm] = {}
"""Every (operation, algorithm); the first of an operation is its default."""


def algorithm(
    operation: str, name: str, *, count: OfRanks, first: OfRanks, parts: OfRanks
) -> Callable[[Make], Make]:
    """Register an algorithm; `Algorithm` says what the numbers are."""

    def register(function: Make) -> Make:
        ALGORITHMS[operation, name] = Algorithm(function, count, first, parts)
        return function

    return register


def names_of(operation: str) -> list[str]:
    """Return the algorithms of an operation, its default first."""
    return [name for known, name in ALGORITHMS if known == operation]


def operations() -> list[str]:
    """Return the operations."""
    return list(dict.fromkeys(operation for operation, _ in ALGORITHMS))


def blocks(size: int, parts: int) -> Numbers:
    """Return `parts` sizes [bytes] that differ by one byte at most and add up to `size`."""
    return np.diff(np.arange(parts + 1, dtype=np.int64) * size // parts)


def _one(_ranks: int) -> int:
    return 1


def _each(ranks: int) -> int:
    return ranks


def _pairs(ranks: int) -> int:
    return ranks * (ranks - 1)


@algorithm("all_reduce", "ring", count=lambda n: 2 * _pairs(n), first=_each, parts=_each)
def ring_all_reduce(ranks: int, size: int) -> Transfers:
    """Reduce-scatter, then all-gather: 2(n-1) steps in each of which every rank passes a block on.

    On an idle star it takes 2(n-1) (size / (n B) + latency).
    """
    return _ring(ranks, size, 2 * (ranks - 1))


@algorithm("reduce_scatter", "ring", count=_pairs, first=_each, parts=_each)
def ring_reduce_scatter(ranks: int, size: int) -> Transfers:
    """n-1 steps; in the end each rank holds the sum of one block."""
    return _ring(ranks, size, ranks - 1)


@algorithm("all_gather", "ring", count=_pairs, first=_each, parts=_each)
def ring_all_gather(ranks: int, size: int) -> Transfers:
    """n-1 steps; each rank begins with one block of `size` and ends with all of them."""
    return _ring(ranks, size, ranks - 1)


def _ring(ranks: int, size: int, steps: int) -> Transfers:
    """Rank i sends to i+1; in step s the block that it has received in step s-1."""
    rank = np.tile(np.arange(ranks, dtype=np.int64), steps)
    step = np.repeat(np.arange(steps, dtype=np.int64), ranks)
    waiters = np.arange(ranks, ranks * steps, dtype=np.int64)
    after = (step[ranks:] - 1) * ranks + (rank[ranks:] - 1) % ranks
    sizes = blocks(size, ranks)[(rank - step) % ranks]
    return Transfers(rank, (rank + 1) % ranks, sizes, waiters, after)


@algorithm(
    "all_reduce", "tree", count=lambda n: 2 * (n - 1), first=lambda n: -(-n // 2), parts=_one
)
def tree_all_reduce(ranks: int, size: int) -> Transfers:
    """Up a binary tree (rank i below rank (i-1)//2) to be summed, then down again, whole buffers.

    Transfer i-1 is that of rank i up, transfer ranks-2+i the one down to it.
    """
    child = np.arange(1, ranks, dtype=np.int64)
    parent = (child - 1) // 2
    down = child + ranks - 2
    inner = parent > 0
    at_root = np.flatnonzero(~inner)
    waiters = [
        parent[inner] - 1,  # a rank sends up when its children have sent
        np.repeat(down[at_root], len(at_root)),  # the root sends down when all its children have
        down[inner],
    ]
    after = [child[inner] - 1, np.tile(at_root, len(at_root)), parent[inner] + ranks - 2]
    return Transfers(
        np.concatenate([child, parent]),
        np.concatenate([parent, child]),
        np.full(2 * (ranks - 1), size, dtype=np.int64),
        np.concatenate(waiters),
        np.concatenate(after),
    )


@algorithm("all_to_all", "direct", count=_pairs, first=_pairs, parts=_each)
def direct_all_to_all(ranks: int, size: int) -> Transfers:
    """Every rank sends block j of its `size` bytes to rank j, all at once; its own it keeps."""
    return _pairwise(ranks, size, waits=False)


@algorithm("all_to_all", "pairwise", count=_pairs, first=_each, parts=_each)
def pairwise_all_to_all(ranks: int, size: int) -> Transfers:
    """n-1 rounds; in round s rank i sends to i+s, once it has the block of the round before."""
    return _pairwise(ranks, size, waits=True)


def _pairwise(ranks: int, size: int, waits: bool) -> Transfers:
    src = np.tile(np.arange(ranks, dtype=np.int64), ranks - 1)
    step = np.repeat(np.arange(1, ranks, dtype=np.int64), ranks)
    dst = (src + step) % ranks
    sizes = blocks(size, ranks)[dst]
    first = ranks if waits else len(src)
    waiters = np.arange(first, len(src), dtype=np.int64)
    # in the round before, rank i received from i - (s-1)
    sender = (src[first:] - (step[first:] - 1)) % ranks
    return Transfers(src, dst, sizes, waiters, (step[first:] - 2) * ranks + sender)
