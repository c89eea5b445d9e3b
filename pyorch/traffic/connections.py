"""Connections: which messages share queue pairs, and how a message is divided among several.

A connection joins two hosts, or two NICs of servers; the messages of an entry between them that
have one class and one channel are its messages, in the order of the entry. It has `queue_pairs`
queue pairs, which carry them as `split` says. A queue pair has the number of the first flow that it
carries, or share of one: shares are numbered behind all flows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

SHARE_UNIT = 128
"""Shares are multiples of this [bytes], but for the last: NCCL, src/transport/net_ib."""
MOST_QUEUE_PAIRS = 128
"""Of a connection, likewise."""
_QPN_BITS = 24
_FIRST_QPN = 2  # InfiniBand Architecture, 3.5.3: 0 and 1 are for management
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Connections:
    """Queue pairs that carry several messages, or shares of messages.

    messages, sizes: shape (shares,), whose shares they are, besides what the message itself keeps,
    and their bytes. flows, queue_pairs: shape (followers,), numbers of flows or shares that use
    the queue pair of another one, and that one. owners, ports: shape (queue pairs,), the number of
    each queue pair and its UDP source port.
    """

    messages: npt.NDArray[np.uint32]
    sizes: npt.NDArray[np.uint64]
    flows: npt.NDArray[np.uint32]
    queue_pairs: npt.NDArray[np.uint32]
    owners: npt.NDArray[np.uint32]
    ports: npt.NDArray[np.uint16]

    def __len__(self) -> int:
        return len(self.flows) + len(self.messages)


@dataclass(frozen=True)
class Use:
    """How an entry uses connections: its keys `queue_pairs` and `split`."""

    queue_pairs: int
    split: str


def connect(
    chosen: Numbers, keys: Numbers, sizes: Numbers, uses: Sequence[Use], flows: int
) -> tuple[Connections, Numbers]:
    """Return the connections of some of `flows` flows, without ports, and the flow of each owner.

    chosen: their numbers, ascending. keys: shape (.., chosen), equal for messages of a connection.
    sizes: bytes. uses: one for each of the chosen.
    """
    _, connection = np.unique(keys, axis=1, return_inverse=True)
    connection = connection.reshape(-1)
    count = np.array([use.queue_pairs for use in uses], dtype=np.int64)
    whole = np.array([use.split == "all" for use in uses], dtype=np.bool_)
    share = np.where(whole, -(-sizes // count), sizes)
    share = np.where(whole & (count > 1), -(-share // SHARE_UNIT) * SHARE_UNIT, share)
    more = np.maximum(-(-sizes // share) - 1, 0)
    of = np.repeat(np.arange(len(chosen)), more)
    number = places_among(of) + 1
    share_sizes = np.minimum(share[of], sizes[of] - number * share[of])
    own = np.where(whole, 0, places_among(connection) % count)
    piece = np.concatenate([chosen, flows + np.arange(len(of))])
    message = np.concatenate([np.arange(len(chosen)), of])
    carried = np.stack([connection[message], np.concatenate([own, number])])
    _, first, which = np.unique(carried, axis=1, return_index=True, return_inverse=True)
    owner = piece[first][which.reshape(-1)]
    follows = owner != piece
    made = Connections(
        chosen[of].astype(np.uint32),
        share_sizes.astype(np.uint64),
        piece[follows].astype(np.uint32),
        owner[follows].astype(np.uint32),
        piece[~follows].astype(np.uint32),
        np.zeros(0, dtype=np.uint16),
    )
    return made, np.asarray(chosen[message[~follows]])


def places_among(values: Numbers) -> Numbers:
    """Return for each value how many of the ones before it are equal to it."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    begins = np.flatnonzero(np.diff(ordered, prepend=ordered[:1] - 1))
    lengths = np.diff(np.append(begins, len(values)))
    places = np.empty(len(values), dtype=np.int64)
    places[order] = np.arange(len(values)) - np.repeat(begins, lengths)
    return places


def source_ports(
    src: Numbers, dst: Numbers, nodes: int, random: np.random.Generator
) -> npt.NDArray[np.uint16]:
    """Return the UDP source ports of queue pairs, in the order in which they are made.

    src, dst: their nodes, of `nodes`. A NIC numbers its queue pairs one after the other, from a
    number that is drawn.
    """
    ends = np.stack([src, dst], axis=1).reshape(-1)
    base = random.integers(_FIRST_QPN, 1 << _QPN_BITS, size=nodes)
    numbers = (base[ends] - _FIRST_QPN + places_among(ends)) % ((1 << _QPN_BITS) - _FIRST_QPN)
    both = (numbers + _FIRST_QPN).reshape(-1, 2)
    return source_port_of(both[:, 0], both[:, 1])


def source_port_of(local: Numbers, remote: Numbers) -> npt.NDArray[np.uint16]:
    """Return the UDP source port of queue pairs, by their numbers at both ends.

    The rule of Linux for RoCE without a flow label: rdma_calc_flow_label and
    rdma_flow_label_to_udp_sport of include/rdma/ib_verbs.h.
    """
    label = local * remote
    label ^= label >> 20
    label ^= label >> 40
    label &= 0xFFFFF
    return (0xC000 | ((label & 0x3FFF) ^ (label >> 14))).astype(np.uint16)
