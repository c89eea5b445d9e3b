"""By which of its links a host with several sends and receives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from pyorch.base.errors import refusal
from pyorch.network.cycles import ShortestPaths
from pyorch.network.topology import HOST, Numbers, Topology
from pyorch.traffic.connections import places_among

LinkRule = Literal["hash", "round-robin", "rail", "first"]

Ends = npt.NDArray[np.uint32]
_Pairs = list[tuple[int, int]]
"""Places of two hosts' links, of the source and of the destination."""


class Chosen(NamedTuple):
    """Flows of which an end has several links, and the ends of links that they take."""

    flows: npt.NDArray[np.uint32]
    leaves: Ends
    arrives: Ends


@dataclass(frozen=True)
class Asked:
    """Flows by their hosts; all arrays have the shape (flows,).

    connections: a number that flows of one connection share, the number of one of them. channels:
    of a collective. rules: of each flow.
    """

    src: Numbers
    dst: Numbers
    connections: Numbers
    channels: Numbers
    rules: npt.NDArray[np.str_]


def choose(asked: Asked, network: Topology) -> Chosen:
    """Choose for each flow, by its rule, one of the pairs of links with the shortest path.

    Raises UserError if no links of two hosts lead to each other.
    """
    several = np.isin(asked.src, list(network.several)) | np.isin(asked.dst, list(network.several))
    flows = np.flatnonzero(several & (asked.src != asked.dst))
    near = _Near(network)
    hosts = np.stack([asked.src[flows], asked.dst[flows]])
    pairs, which = np.unique(hosts, axis=1, return_inverse=True)
    which = which.reshape(-1)
    options = [near.options(*pair) for pair in pairs.T.tolist()]
    by_rail = [[pair for pair in found if pair[0] == pair[1]] or found for found in options]
    rail = asked.rules[flows] == "rail"
    chosen = np.zeros((2, len(flows)), dtype=np.int64)
    for some, lists in ((rail, by_rail), (~rail, options)):
        counts = np.array([len(found) for found in lists], dtype=np.int64)
        flat = np.array([pair for found in lists for pair in found], dtype=np.int64).reshape(-1, 2)
        begins = np.cumsum(counts) - counts
        turns = _turns(asked, flows)[some] % counts[which[some]]
        chosen[:, some] = flat[begins[which[some]] + turns].T
    ends = [network.host_ends(host) for host in range(len(network.names))]
    leaves, arrives = (
        np.array([ends[h][p] for h, p in zip(host, place, strict=True)], dtype=np.uint32)
        for host, place in zip(hosts.tolist(), chosen.tolist(), strict=True)
    )
    return Chosen(flows.astype(np.uint32), leaves, arrives)


def _turns(asked: Asked, flows: Numbers) -> Numbers:
    """Return for some flows the number by which each takes one of its options."""
    connections, src = asked.connections[flows], asked.src[flows]
    first, of = np.unique(connections, return_index=True, return_inverse=True)[1:]
    turns = places_among(src[first])[of.reshape(-1)]
    rules = asked.rules[flows]
    hashed = (mixed(connections.astype(np.uint64)) >> np.uint64(1)).astype(np.int64)
    turns = np.where(rules == "hash", hashed, turns)
    turns = np.where(rules == "rail", asked.channels[flows], turns)
    return np.where(rules == "first", 0, turns)


def mixed(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Mix the bits of numbers: the finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014)."""
    found = values + np.uint64(0x9E3779B97F4A7C15)
    found = (found ^ (found >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    found = (found ^ (found >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(found ^ (found >> np.uint64(31)))


@dataclass
class _Near:
    """The links of two hosts from which the way is shortest."""

    network: Topology
    _known: dict[tuple[tuple[int, ...], tuple[int, ...]], _Pairs] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._paths = ShortestPaths.of(self.network)
        self._place: Mapping[int, int] = {
            switch: place for place, switch in enumerate(self._paths.switches.tolist())
        }

    def options(self, src: int, dst: int) -> _Pairs:
        """Return the places of their links; links of the same place come first."""
        network = self.network
        near, far = (self._racks(host) for host in (src, dst))
        if any(rack >= 0 and network.kinds[rack] == HOST for rack in (*near, *far)):
            return self._found(src, dst, self._direct(src, dst) or self._nearest(near, far))
        if (near, far) not in self._known:
            self._known[near, far] = self._nearest(near, far)
        return self._found(src, dst, self._known[near, far])

    def _found(self, src: int, dst: int, pairs: _Pairs) -> _Pairs:
        if not pairs:
            names = self.network.names
            what = f"there is no path from {names[src]} to {names[dst]}: hosts forward nothing"
            hint = "give them links to switches that reach each other, or send between others"
            raise refusal("traffic", what, hint=hint)
        return pairs

    def _racks(self, host: int) -> tuple[int, ...]:
        """Return where the links of a host lead; -1: the link has failed from the start."""
        network = self.network
        ends = network.host_ends(host)
        racks = network.racks[ends].tolist()
        if len(ends) == 1:
            return tuple(racks)
        failed = network.failed_links
        down = [(end - len(network.names)) // 2 in failed for end in ends]
        return tuple(-1 if off else rack for rack, off in zip(racks, down, strict=True))

    def _direct(self, src: int, dst: int) -> _Pairs:
        """Return the links that lead from a host to another."""
        network = self.network
        far = network.host_ends(dst)
        found = []
        for place, (end, rack) in enumerate(
            zip(network.host_ends(src), self._racks(src), strict=True)
        ):
            if rack == dst:
                other = network.link_ends(network.access(end))[1]
                found.append((place, far.index(other) if other in far else 0))
        return found

    def _nearest(self, near: Sequence[int], far: Sequence[int]) -> _Pairs:
        hops = {
            (one, other): int(self._paths.distance[self._place[a], self._place[b]])
            for one, a in enumerate(near)
            for other, b in enumerate(far)
            if a in self._place and b in self._place
        }
        least = min(hops.values(), default=len(self._place))
        found = [pair for pair, count in hops.items() if count == least < len(self._place)]
        return sorted(found, key=lambda pair: ((pair[1] - pair[0]) % len(far), pair[0]))
