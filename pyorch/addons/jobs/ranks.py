"""Jobs of ranks: what collectives and traces share.

A rank is one process of a job; it has a number from 0 and is placed on a host.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field
from typing_extensions import override

from pyorch.base.fields import Names, Table
from pyorch.network.topology import Topology
from pyorch.traffic.base import Check, TrafficTable, node_numbers

Placement = Literal["listed", "scattered", "by_rail", "random"]


class Straggler(Table):
    """Hosts that compute `slowdown` times as long as the others."""

    hosts: Names = Field(description="The hosts.")
    slowdown: float = Field(
        ge=1, le=1000, description="Their computations take so many times as long."
    )


class RankedTable(TrafficTable):
    """The keys of a job of ranks."""

    left_out = TrafficTable.left_out - {"connection"}  # which had another default

    connection: Literal["message", "pair"] = Field(
        default="pair",
        description="One for all messages of the job from a host to another, as libraries have "
        "them: they go one after the other, and congestion control and path persist; or one for "
        "each message.",
    )
    hosts: Names | None = Field(default=None, description="Hosts of rank 0, 1, ...; none: all.")
    placement: Placement | None = Field(
        default=None,
        description="Order of the hosts: as listed (none); the first under every leaf, then "
        "the second of each, ...; the same of servers; or drawn from the seed.",
    )
    stragglers: list[Straggler] | None = Field(
        default=None,
        min_length=1,
        description="Hosts that compute more slowly: their `delay` and `step_delay` are stretched.",
    )

    def resolve_ranks(self, check: Check) -> dict[str, Any] | None:
        """Return `hosts` and `stragglers` with every host named; None after problems."""
        hosts = check.hosts("hosts", self.hosts or ["all"])
        slow = []
        for number, one in enumerate(self.stragglers or ()):
            named = check.hosts(f"stragglers.{number}.hosts", one.hosts)
            slow.append(one.model_copy(update={"hosts": named or one.hosts}))
            if named is None:
                hosts = None
        names = [name for one in slow for name in one.hosts]
        if len(set(names)) < len(names):
            check.add("stragglers", "a host is listed twice", "each host once")
            hosts = None
        return None if hosts is None else {"hosts": hosts, "stragglers": slow or None}

    def computing(self, network: Topology) -> set[str]:
        """Return the hosts whose computations take time. Canonical entries only."""
        raise NotImplementedError

    @override
    def doubts(self, network: Topology) -> Iterator[tuple[str, str]]:
        yield from super().doubts(network)
        slow = [name for one in self.stragglers or () for name in one.hosts]
        busy = self.computing(network) if slow else set()
        if others := [name for name in slow if name not in busy]:
            yield "stragglers", f"{others[0]} computes nothing"

    @override
    def on_time(self) -> TrafficTable:
        return self.model_copy(update={"stragglers": None})

    def place(self, network: Topology, random: np.random.Generator) -> npt.NDArray[np.uint32]:
        """Return the node of every rank. Canonical entries only."""
        nodes = node_numbers(self.hosts or (), network)
        if self.placement == "random":
            return random.permutation(nodes)
        if self.placement == "scattered":
            return np.asarray(nodes[_one_a_rack(network.leaves[nodes])])
        if self.placement == "by_rail":
            return np.asarray(nodes[_one_a_rack(network.servers[nodes])])
        return nodes

    def slowdowns(self, network: Topology) -> npt.NDArray[np.float64]:
        """Return for every node the factor on the time of its computations."""
        factors = np.ones(len(network.names))
        for one in self.stragglers or ():
            factors[node_numbers(one.hosts, network)] *= one.slowdown
        return factors


def _one_a_rack(racks: npt.NDArray[np.uint32]) -> npt.NDArray[np.int64]:
    """Return an order that takes the first of every rack, then the second of every one, ..."""
    _, first, rack = np.unique(racks, return_index=True, return_inverse=True)
    by_rack = np.argsort(rack, kind="stable")
    sizes = np.bincount(rack)
    within = np.empty(len(racks), dtype=np.int64)
    within[by_rack] = np.arange(len(racks)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.asarray(np.lexsort((first[rack], within)))


def stretched(
    time: int | npt.NDArray[np.int64],
    nodes: npt.NDArray[Any],
    factors: Sequence[float] | npt.NDArray[np.float64],
) -> npt.NDArray[np.int64]:
    """Return how long computations, of one time [ps] or one for each, take on nodes [ps]."""
    return np.asarray(np.rint(time * np.asarray(factors)[nodes]), dtype=np.int64)
