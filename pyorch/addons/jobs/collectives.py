"""Collective communication as transfers between ranks that wait for each other.

An algorithm is one function from a `Call` (ranks, size) to `Transfers`, registered with @algorithm,
which also gives their number. The algorithms are those of MPI and NCCL: Thakur, Rabenseifner,
Gropp, "Optimization of Collective Communication Operations in MPICH", IJHPCA 2005, sections 3 and
4; the ring all-reduce is that of Patarasuk and Yuan, JPDC 2009; the double binary tree that of
Sanders, Speck, Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan",
Parallel Computing 2009.

Times in closed form are those of an idle star with equal links, of blocks of at least three whole
packets: a(x) is the time that a message of x bytes takes across it (store and forward), b and c are
those of a packet and of an ACK on a link, one ACK a message, and p is the `step_delay`, from c on.
Inside a scale-up domain b and c are 0, and of k messages that a rank sends at once the i-th has
arrived after a(i S), as they do not take turns there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Transfers:
    """Messages between ranks, and what they wait for.

    src, dst: ranks, sizes: bytes; all of the shape (transfers,). waiters, after: shape (edges,):
    transfer `waiters[i]` begins when transfer `after[i]` has arrived. follows: which of these waits
    only order messages, without a reduction in between; None: none.
    """

    src: Numbers
    dst: Numbers
    sizes: Numbers
    waiters: Numbers
    after: Numbers
    follows: npt.NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.src)

    def taking_turns(self) -> npt.NDArray[np.bool_]:
        """Return `follows` as an array."""
        return np.zeros(len(self.waiters), dtype=bool) if self.follows is None else self.follows


@dataclass(frozen=True)
class Call:
    """The input of an algorithm.

    ranks: from 2. size: bytes of a buffer. local: number of consecutive ranks in a server.
    skew: exponent of Zipf's law by which destinations differ.
    """

    ranks: int
    size: int
    local: int = 1
    skew: float = 0


Make = Callable[[Call], Transfers]
OfCall = Callable[[Call], int]
"""A number that follows from a call, without creating its transfers."""


def _never(_call: Call) -> str | None:
    return None


@dataclass(frozen=True)
class Algorithm:
    """An algorithm, and what is known without creating its transfers.

    count: number of transfers. first: number of those that wait for no other. parts: blocks that a
    size is cut into. refuses: what it needs that a call does not have, if anything. reads: keys
    that it uses besides the size. slices: of a chunk, where NCCL pipelines it.
    """

    make: Make
    count: OfCall
    first: OfCall
    parts: OfCall
    refuses: Callable[[Call], str | None] = _never
    reads: frozenset[str] = frozenset()
    slices: int = 1


ALGORITHMS: dict[tuple[str, str], Algorithm] = {}
"""Every (operation, algorithm); the first of an operation is its default."""


def algorithm(
    operation: str,
    name: str,
    *,
    count: OfCall,
    first: OfCall,
    parts: OfCall,
    refuses: Callable[[Call], str | None] = _never,
    reads: Sequence[str] = (),
    slices: int = 1,
) -> Callable[[Make], Make]:
    """Register an algorithm; `Algorithm` says what the values are."""

    def register(function: Make) -> Make:
        ALGORITHMS[operation, name] = Algorithm(
            function, count, first, parts, refuses, frozenset(reads), slices
        )
        return function

    return register


def names_of(operation: str) -> list[str]:
    """Return the algorithms of an operation, its default first."""
    return [name for known, name in ALGORITHMS if known == operation]


def operations() -> list[str]:
    """Return the operations."""
    return list(dict.fromkeys(operation for operation, _ in ALGORITHMS))


def bus_factor(operation: str, ranks: int) -> float:
    """Return the factor from algorithm bandwidth (size / time) to bus bandwidth.

    With it a perfect collective has the rate of a link, whatever the number of ranks: the
    definition of nccl-tests, doc/PERFORMANCE.md, "Bus bandwidth".
    """
    if operation == "broadcast":
        return 1.0
    return (2 if operation == "all_reduce" else 1) * (ranks - 1) / ranks


def blocks(size: int, parts: int) -> Numbers:
    """Return `parts` sizes [bytes] that differ by one byte at most and add up to `size`."""
    return np.diff(np.arange(parts + 1, dtype=np.int64) * size // parts)


def zipf_blocks(size: int, parts: int, skew: float) -> Numbers:
    """Return `parts` sizes [bytes], from 1, that add up to `size`, the k-th as (k + 1)^-skew."""
    shares = np.cumsum(np.arange(1, parts + 1, dtype=np.float64) ** -skew)
    ends = np.floor(shares / shares[-1] * (size - parts)).astype(np.int64)
    return np.asarray(np.diff(ends, prepend=0) + 1)


def in_chunks(transfers: Transfers, chunks: Sequence[Transfers]) -> Transfers:
    """Join the transfers of the chunks of a buffer: each follows its counterpart of the last chunk.

    transfers: those of one chunk; the others differ only in size.
    """
    length, edges, number = len(transfers), len(transfers.waiters), len(chunks)
    shift = np.arange(number, dtype=np.int64) * length
    every = np.arange(length * (number - 1), dtype=np.int64)
    return Transfers(
        np.tile(transfers.src, number),
        np.tile(transfers.dst, number),
        np.concatenate([chunk.sizes for chunk in chunks]),
        np.concatenate(
            [np.tile(transfers.waiters, number) + np.repeat(shift, edges), every + length]
        ),
        np.concatenate([np.tile(transfers.after, number) + np.repeat(shift, edges), every]),
        np.concatenate([np.tile(transfers.taking_turns(), number), np.ones(len(every), bool)]),
    )


def one_at_a_time(transfers: Transfers) -> Transfers:
    """Let each rank send to another rank one message after the other."""
    by_ends = np.lexsort((transfers.src, transfers.dst))  # stable: those of the same ends in order
    before, behind = by_ends[:-1], by_ends[1:]
    same = (transfers.src[before] == transfers.src[behind]) & (
        transfers.dst[before] == transfers.dst[behind]
    )
    return replace(
        transfers,
        waiters=np.concatenate([transfers.waiters, behind[same]]),
        after=np.concatenate([transfers.after, before[same]]),
        follows=np.concatenate([transfers.taking_turns(), np.ones(np.sum(same), bool)]),
    )


def transfers_of(
    found: Algorithm, call: Call, chunks: int = 1, in_order: bool = False
) -> Transfers:
    """Return the transfers of a call whose buffer is sent in chunks, one after the other.

    in_order: each rank sends to another rank one message of a chunk at a time.
    """
    sizes = [call.size] if chunks == 1 else blocks(call.size, chunks).tolist()
    made = [found.make(replace(call, size=size)) for size in sizes]
    first = one_at_a_time(made[0]) if in_order else made[0]
    return first if chunks == 1 else in_chunks(first, made)


def _one(_call: Call) -> int:
    return 1


def _each(call: Call) -> int:
    return call.ranks


def _others(call: Call) -> int:
    return call.ranks - 1


def _pairs(call: Call) -> int:
    return call.ranks * (call.ranks - 1)


# ---------------------------------------------------------------------------------------------
# Rings


@algorithm("all_reduce", "ring", count=lambda c: 2 * _pairs(c), first=_each, parts=_each, slices=2)
def ring_all_reduce(call: Call) -> Transfers:
    """Reduce-scatter, then all-gather: 2(n-1) steps; in each every rank passes a block on.

    It takes 2(n-1) a(S/n) + (2n-3) p; in chunks see `_ring`.
    """
    return _ring(call, 2 * (call.ranks - 1))


@algorithm("reduce_scatter", "ring", count=_pairs, first=_each, parts=_each, slices=2)
def ring_reduce_scatter(call: Call) -> Transfers:
    """n-1 steps; in the end each rank holds the sum of one block. (n-1) a(S/n) + (n-2) p."""
    return _ring(call, call.ranks - 1)


@algorithm("all_gather", "ring", count=_pairs, first=_each, parts=_each, slices=2)
def ring_all_gather(call: Call) -> Transfers:
    """n-1 steps; each rank begins with one block of S and ends with all. (n-1) a(S/n) + (n-2) p."""
    return _ring(call, call.ranks - 1)


def _ring(call: Call, steps: int) -> Transfers:
    """Rank i sends to i+1; in step s the block that it has received in step s-1.

    s steps in k chunks take (s+k-1) a(x) + (s-1) p + (k-1) c with blocks of x = S/(k n) bytes, as
    long as no two of them meet at a port: t <= p and min(k-2, s-1) p + t <= a(x), if t is the time
    of a block on a link. The ACK of a chunk goes before the next one. Otherwise blocks of several
    steps take turns on each link, which has no closed form; a(s S/n) is a lower bound.
    """
    ranks = call.ranks
    rank = np.tile(np.arange(ranks, dtype=np.int64), steps)
    step = np.repeat(np.arange(steps, dtype=np.int64), ranks)
    waiters = np.arange(ranks, ranks * steps, dtype=np.int64)
    after = (step[ranks:] - 1) * ranks + (rank[ranks:] - 1) % ranks
    sizes = blocks(call.size, ranks)[(rank - step) % ranks]
    return Transfers(rank, (rank + 1) % ranks, sizes, waiters, after)


@algorithm("broadcast", "chain", count=_others, first=_one, parts=_one)
def chain_broadcast(call: Call) -> Transfers:
    """Rank 0 sends to 1, that to 2, ...: NCCL's ring.

    In k equal chunks it takes (n + k - 2) a(S/k) + (n-2) p, if p is longer than the time of an ACK
    and shorter than the time across the star.
    """
    src = np.arange(call.ranks - 1, dtype=np.int64)
    sizes = np.full(len(src), call.size, dtype=np.int64)
    return Transfers(src, src + 1, sizes, src[1:], src[:-1])


# ---------------------------------------------------------------------------------------------
# Trees


@algorithm(
    "all_reduce",
    "tree",
    count=lambda c: 2 * _others(c),
    first=lambda c: -(-c.ranks // 2),
    parts=_one,
)
def tree_all_reduce(call: Call) -> Transfers:
    """Up a binary tree (rank i below rank (i-1)//2) to be summed, then down again, whole buffers.

    Transfer i-1 is that of rank i up, transfer ranks-2+i the one down to it. With 2^h - 1 ranks
    it takes 2h a(2S) + (2h-1) p, with others the time that `_up_and_down` gives.
    """
    return _up_and_down((np.arange(call.ranks, dtype=np.int64) + 1) // 2 - 1, call.size)


def _up_and_down(parent: Numbers, size: int) -> Transfers:
    """All-reduce over a binary tree. parent: that of each rank, -1 of the root.

    Its time is up + p + down. A rank whose only child sends at v has the sum at v + a(S); one whose
    children send at v and, not later, w has it at max(v + a(S), w + a(2S)): if they meet at the
    port to it, one message follows the other. Leaves send at 0, other ranks p after they have the
    sum. `up` is when the root has it. On the way down an only child has it a(S) after its parent
    sent; of two the second after a(2S), the first after a(2S) - 2b, as it begins before the other
    and they take turns. Each inner rank sends p after it has it; `down` is the time to the last.
    """
    child = np.flatnonzero(parent >= 0).astype(np.int64)
    above = parent[child]
    up = np.full(len(parent), -1, dtype=np.int64)  # the transfer of each rank up
    up[child] = np.arange(len(child))
    inner = parent[above] >= 0
    at_root = np.flatnonzero(~inner)
    waiters = [
        up[above[inner]],  # a rank sends up when its children have sent
        np.repeat(at_root + len(child), len(at_root)),  # the root down when all its children have
        np.flatnonzero(inner) + len(child),
    ]
    after = [np.flatnonzero(inner), np.tile(at_root, len(at_root)), up[above[inner]] + len(child)]
    return Transfers(
        np.concatenate([child, above]),
        np.concatenate([above, child]),
        np.full(2 * len(child), size, dtype=np.int64),
        np.concatenate(waiters),
        np.concatenate(after),
    )


def _in_order_tree(ranks: int) -> Numbers:
    """Return the parents in a binary tree in order: ranks 0, 2, 4, ... are leaves."""
    place = np.arange(1, ranks + 1, dtype=np.int64)
    bit = place & -place
    above = np.where((place & 2 * bit) == 0, place + bit, place - bit)
    return np.where(above > ranks, place - bit, above) - 1


def two_trees(ranks: int) -> tuple[Numbers, Numbers]:
    """Return the parents of each rank in two binary trees; no rank is inside both.

    The second is the mirror of the first, or, of an odd number of ranks, the first shifted by one.
    """
    first = _in_order_tree(ranks)
    number = np.arange(ranks, dtype=np.int64)
    other = ranks - 1 - number if ranks % 2 == 0 else (number - 1) % ranks  # its rank in the first
    above = first[other]
    back = np.argsort(other)  # from a rank of the first to that of the second
    return first, np.where(above >= 0, back[above], -1)


def _leaves_of_both(call: Call) -> int:
    """Ranks without children, in each of the two trees: every second rank in the first one."""
    return sum(
        int(np.setdiff1d(np.arange(call.ranks), parent).size) for parent in two_trees(call.ranks)
    )


@algorithm(
    "all_reduce",
    "double_tree",
    count=lambda c: 4 * _others(c),
    first=_leaves_of_both,
    parts=lambda _: 2,
)
def double_tree_all_reduce(call: Call) -> Transfers:
    """Half of the buffer over each of two binary trees; inner ranks of one are leaves of the other.

    With chunks it is the double binary tree of NCCL. Without, it takes as long as the slower tree
    would alone with S/2 bytes (`_up_and_down`), 2 a(S/2) + p for two ranks and 2 a(S) + p for
    three, as far as no messages of one tree meet those of the other. Where they do, ACKs or packets
    of one are in the other's way, which has no closed form. Nor has it with chunks, which share
    links.
    """
    halves = blocks(call.size, 2).tolist()
    pair = zip(two_trees(call.ranks), halves, strict=True)
    return _side_by_side([_up_and_down(parent, size) for parent, size in pair])


def _side_by_side(parts: Sequence[Transfers]) -> Transfers:
    """Join transfers that do not wait for each other."""
    shifts = np.cumsum([0, *(len(part) for part in parts)])[:-1].tolist()
    return Transfers(
        np.concatenate([part.src for part in parts]),
        np.concatenate([part.dst for part in parts]),
        np.concatenate([part.sizes for part in parts]),
        np.concatenate([part.waiters + n for part, n in zip(parts, shifts, strict=True)]),
        np.concatenate([part.after + n for part, n in zip(parts, shifts, strict=True)]),
    )


@algorithm("broadcast", "binomial", count=_others, first=_one, parts=_one)
def binomial_broadcast(call: Call) -> Transfers:
    """In each round every rank that has all sends it to one that has not: i to i + 2^k in round k.

    So a rank serves one after the other, the root of the largest subtree first, and begins the next
    when the last has all. Transfer i-1 is that to rank i. With more than 2^(d-1) and at most 2^d
    ranks it takes d a(S) + (d-1) p.
    """
    dst = np.arange(1, call.ranks, dtype=np.int64)
    bits = 1 << np.arange(62, dtype=np.int64)
    bit = bits[np.searchsorted(bits, dst, side="right") - 1]
    src = dst - bit
    before = np.where(bit // 2 > src, src + bit // 2, src)  # the one served last, or the sender
    waiters = np.flatnonzero(before > 0)
    sizes = np.full(len(dst), call.size, dtype=np.int64)
    return Transfers(src, dst, sizes, waiters, before[waiters] - 1)


def _levels(ranks: int) -> int:
    """Return the logarithm of a number of ranks to the base 2, rounded up."""
    return (ranks - 1).bit_length()


# ---------------------------------------------------------------------------------------------
# Halving and doubling


def _no_power_of_two(call: Call) -> str | None:
    return None if call.ranks & (call.ranks - 1) == 0 else "a power of two"


def _exchanges(call: Call) -> int:
    return call.ranks * _levels(call.ranks)


@algorithm(
    "all_reduce",
    "halving_doubling",
    count=lambda c: 2 * _exchanges(c),
    first=_each,
    parts=_each,
    refuses=_no_power_of_two,
)
def halving_doubling_all_reduce(call: Call) -> Transfers:
    """Reduce-scatter by recursive halving, then all-gather by recursive doubling (Rabenseifner).

    2 (a(S/2) + a(S/4) + ... + a(S/n)) + (2 log2(n) - 1) p.
    """
    far = [call.ranks >> step for step in range(1, _levels(call.ranks) + 1)]
    return _exchange(call, [(d, True) for d in far] + [(d, False) for d in reversed(far)])


@algorithm(
    "reduce_scatter",
    "halving",
    count=_exchanges,
    first=_each,
    parts=_each,
    refuses=_no_power_of_two,
)
def halving_reduce_scatter(call: Call) -> Transfers:
    """Recursive halving: a(S/2) + a(S/4) + ... + a(S/n) + (log2(n) - 1) p."""
    return _exchange(
        call, [(call.ranks >> step, True) for step in range(1, _levels(call.ranks) + 1)]
    )


@algorithm(
    "all_gather", "doubling", count=_exchanges, first=_each, parts=_each, refuses=_no_power_of_two
)
def doubling_all_gather(call: Call) -> Transfers:
    """Recursive doubling: a(S/n) + ... + a(S/4) + a(S/2) + (log2(n) - 1) p."""
    return _exchange(call, [(1 << step, False) for step in range(_levels(call.ranks))])


def _exchange(call: Call, steps: Sequence[tuple[int, bool]]) -> Transfers:
    """In each step (distance, halving) rank i exchanges with rank i xor distance.

    Halving, a rank sends the blocks that its partner keeps; doubling, all that it has.
    """
    ranks = call.ranks
    rank = np.arange(ranks, dtype=np.int64)
    ends = np.arange(ranks + 1, dtype=np.int64) * call.size // ranks
    dst, sizes = [], []
    for far, halving in steps:
        partner = rank ^ far
        first = (partner if halving else rank) // far * far
        dst.append(partner)
        sizes.append(ends[first + far] - ends[first])
    # what a rank sends in a step contains what it has received in all earlier steps
    pairs = [(step, earlier) for step in range(len(steps)) for earlier in range(step)]
    waiters = [rank + step * ranks for step, _ in pairs]
    after = [dst[earlier] + earlier * ranks for _, earlier in pairs]
    none = np.zeros(0, dtype=np.int64)
    return Transfers(
        np.tile(rank, len(steps)),
        np.concatenate(dst),
        np.concatenate(sizes),
        np.concatenate([none, *waiters]),
        np.concatenate([none, *after]),
    )


# ---------------------------------------------------------------------------------------------
# Servers of several ranks


def _no_servers(call: Call) -> str | None:
    if 1 < call.local < call.ranks and call.ranks % call.local == 0:
        return None
    return "a multiple of 'local', and 'local' from 2"


def _of_servers(call: Call) -> int:
    return call.ranks * (2 * (call.local - 1) + 2 * (call.ranks // call.local - 1))


@algorithm(
    "all_reduce",
    "hierarchical",
    count=_of_servers,
    first=_each,
    parts=_each,
    refuses=_no_servers,
    reads=("local",),
)
def hierarchical_all_reduce(call: Call) -> Transfers:
    """Ring reduce-scatter in a server, ring all-reduce of each block between them, ring all-gather.

    With g ranks in a server and m servers: 2(g-1) a(S/g) + 2(m-1) a(S/(g m)) + (2(g+m) - 5) p.
    """
    local, servers = call.local, call.ranks // call.local
    inside = _ring(replace(call, ranks=local), local - 1)
    rank = np.arange(call.ranks, dtype=np.int64).reshape(servers, local)
    # after the reduce-scatter rank i of a server holds block i+1
    held = np.roll(blocks(call.size, local), -1).tolist()
    across = [_ring(replace(call, ranks=servers, size=size), 2 * (servers - 1)) for size in held]
    scatter = _side_by_side([inside] * servers)
    between = _side_by_side(across)
    gather = _side_by_side([replace(inside, sizes=_gathered(call, local))] * servers)
    homes = [
        np.concatenate([row[inside.src] for row in rank]),
        np.concatenate([rank[:, n][across[n].src] for n in range(local)]),
    ]
    ends = [
        np.concatenate([row[inside.dst] for row in rank]),
        np.concatenate([rank[:, n][across[n].dst] for n in range(local)]),
    ]
    shift = np.cumsum([0, len(scatter), len(between)]).tolist()
    stages = [scatter, between, gather]
    src = np.concatenate([homes[0], homes[1], homes[0]])
    dst = np.concatenate([ends[0], ends[1], ends[0]])
    waiters = [stage.waiters + n for stage, n in zip(stages, shift, strict=True)]
    after = [stage.after + n for stage, n in zip(stages, shift, strict=True)]
    for one, other in ((0, 1), (1, 2)):  # a stage begins with the results of the previous one
        waiting = _first_by_rank(stages[other], src, shift[other])
        brought = _last_by_rank(stages[one], dst, shift[one])
        if one == 0:  # sums between servers contain that of the own server
            steps = np.tile(np.repeat(np.arange(2 * servers - 2), servers), local)
            waiting = np.flatnonzero(steps < servers) + len(scatter)
        waiters.append(waiting)
        after.append(brought[src[waiting]])
    return Transfers(
        src,
        dst,
        np.concatenate([stage.sizes for stage in stages]),
        np.concatenate(waiters),
        np.concatenate(after),
    )


def _gathered(call: Call, local: int) -> Numbers:
    """Sizes of a ring all-gather in which rank i begins with block i+1."""
    steps = np.repeat(np.arange(local - 1, dtype=np.int64), local)
    rank = np.tile(np.arange(local, dtype=np.int64), local - 1)
    return np.asarray(blocks(call.size, local)[(rank + 1 - steps) % local])


def _first_by_rank(stage: Transfers, src: Numbers, shift: int) -> Numbers:
    """Transfers of a stage that wait for no other of that stage, by sender."""
    first = np.setdiff1d(np.arange(len(stage)), stage.waiters) + shift
    return first[np.argsort(src[first], kind="stable")]


def _last_by_rank(stage: Transfers, dst: Numbers, shift: int) -> Numbers:
    """For each rank, the transfer of a stage that it receives and that no other of it waits for."""
    last = np.setdiff1d(np.arange(len(stage)), stage.after) + shift
    return last[np.argsort(dst[last], kind="stable")]


# ---------------------------------------------------------------------------------------------
# All to all


@algorithm("all_to_all", "direct", count=_pairs, first=_pairs, parts=_each, reads=("skew",))
def direct_all_to_all(call: Call) -> Transfers:
    """Every rank sends block j of its S bytes to rank j, all at once, and keeps its own.

    a((n-1) S/n) when blocks are whole packets. Skewed, with B bytes for rank 0, the link to it
    is the bottleneck: at least the time across of n-1 messages of B bytes that follow each other,
    and up to (n-1) c more, for the ACKs of those of rank 0's own messages that end before; in a
    scale-up domain exactly a((n-1) B).
    """
    return _pairwise(call, waits=False)


@algorithm("all_to_all", "pairwise", count=_pairs, first=_each, parts=_each, reads=("skew",))
def pairwise_all_to_all(call: Call) -> Transfers:
    """n-1 rounds; in round s rank i sends to i+s, once it has the block of the previous round.

    (n-1) a(S/n) + (n-2) p. Skewed, with blocks so short that no two meet at a port, (n-2) p and
    the largest sum, over ranks r, of a(block) of n-1 ranks: r, r+1, r+3, r+6, ... (modulo n).
    """
    return _pairwise(call, waits=True)


def _pairwise(call: Call, waits: bool) -> Transfers:
    ranks = call.ranks
    src = np.tile(np.arange(ranks, dtype=np.int64), ranks - 1)
    step = np.repeat(np.arange(1, ranks, dtype=np.int64), ranks)
    dst = (src + step) % ranks
    even = blocks(call.size, ranks)
    sizes = zipf_blocks(call.size, ranks, call.skew) if call.skew else even
    first = ranks if waits else len(src)
    waiters = np.arange(first, len(src), dtype=np.int64)
    # in the previous round, rank i received from i - (s-1)
    sender = (src[first:] - (step[first:] - 1)) % ranks
    return Transfers(src, dst, sizes[dst], waiters, (step[first:] - 2) * ranks + sender)
