"""Networks: a registry of topology kinds, from a validated table to flat arrays.

A kind is one class in kinds.py: the pydantic model of its keys, and `wire`, which adds
nodes and links. Hosts are numbered first, in the order h0, h1, ...; switches follow. The end of a
link is a place of its own, see `Topology.ends`: by it traffic leaves a host that has several.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path as FilePath
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar

import numpy as np
import numpy.typing as npt
from pydantic import Field

from pyorch.base.errors import UserError, code_of, suggest
from pyorch.base.fields import NEVER, Kind, Link, LinkRate, Never, Table, Time
from pyorch.base.findings import Findings, Path
from pyorch.base.lazy import Kinds
from pyorch.base.units import format_rate

HOST, SWITCH = 0, 1

Numbers = npt.NDArray[np.int64]
Port = tuple[int, int]
"""A node and the neighbour to which a port of it leads, see Topology.ports."""


@dataclass(frozen=True)
class Topology:
    """A network. Node and link numbers count from 0 in the order of the arrays.

    kinds: uint8 (nodes,), 0 host and 1 switch. a, b: uint32 (links,), the ends of each link. rates:
    uint64 (links,), bit/s. delays: int64 (links,), ps one way. failures: (link, down_ps, up_ps);
    down 0 is before the start, up -1 is never again. server_size: number of consecutive hosts in a
    server. scale_up: bit/s and ps of each host's link into the domain of its server; None: no
    domain. failover: flows move from a host whose link fails to another of its server. nic_size:
    number of consecutive hosts that share a NIC, a switch with one link to the rest; 1: none do.
    """

    names: tuple[str, ...]
    kinds: npt.NDArray[np.uint8]
    a: npt.NDArray[np.uint32]
    b: npt.NDArray[np.uint32]
    rates: npt.NDArray[np.uint64]
    delays: npt.NDArray[np.int64]
    failures: tuple[tuple[int, int, int], ...] = ()
    server_size: int = 1
    scale_up: tuple[int, int] | None = None
    failover: bool = False
    nic_size: int = 1

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Node numbers by name."""
        return {name: number for number, name in enumerate(self.names)}

    @cached_property
    def ports(self) -> tuple[Numbers, Numbers]:
        """The node and the neighbour of every port, (2 links,) each: from a to b, then from b to a.

        A neighbour is given by its number. Where two nodes have several links, it is
        len(names) + 2 link for the first end of a link, and one more for the second.
        """
        a, b = self.a.astype(np.int64), self.b.astype(np.int64)
        pairs = np.minimum(a, b) * len(self.names) + np.maximum(a, b)
        _, place, counts = np.unique(pairs, return_inverse=True, return_counts=True)
        several = counts[place] > 1
        ends = len(self.names) + 2 * np.arange(len(a))
        there, back = np.where(several, ends + 1, b), np.where(several, ends, a)
        return np.concatenate([a, b]), np.concatenate([there, back])

    @cached_property
    def links(self) -> dict[Port, int]:
        """Link numbers by port, in the order of `ports`."""
        node, neighbour = self.ports
        count = len(self.a)
        return {
            port: place % count
            for place, port in enumerate(zip(node.tolist(), neighbour.tolist(), strict=True))
        }

    @cached_property
    def bundles(self) -> dict[tuple[int, int], list[int]]:
        """The neighbours that stand for the several links of a node to another one, in order."""
        found: dict[tuple[int, int], list[int]] = {}
        for node, neighbour in self.links:
            if neighbour >= len(self.names):
                found.setdefault((node, self.far(neighbour)), []).append(neighbour)
        return {ends: sorted(neighbours) for ends, neighbours in found.items()}

    @cached_property
    def end_names(self) -> tuple[str, ...]:
        """Names by the numbers of nodes and neighbours: "s1", or "s1#2" by the second link."""
        if not self.bundles:
            return self.names
        ends = np.stack([self.a, self.b], axis=1).ravel().tolist()
        names = [*self.names, *(self.names[end] for end in ends)]
        for neighbours in self.bundles.values():
            for place, neighbour in enumerate(neighbours, 1):
                names[neighbour] += f"#{place}"
        return tuple(names)

    @cached_property
    def ends(self) -> Numbers:
        """The node by the numbers of nodes and neighbours, see `ports`."""
        links = np.stack([self.a, self.b], axis=1).ravel().astype(np.int64)
        return np.concatenate([np.arange(len(self.names)), links])

    def link_ends(self, port: Port) -> tuple[int, int]:
        """Return the ends of a port's link, see `ends`, its own first."""
        link = self.links[port]
        own = len(self.names) + 2 * link + int(self.a[link] != port[0])
        return own, len(self.names) + 2 * link + int(self.a[link] == port[0])

    def port_at(self, end: int) -> Port:
        """Return the port at an end of a link."""
        link, side = divmod(end - len(self.names), 2)
        node, neighbour = (int(column[link + side * len(self.a)]) for column in self.ports)
        return node, neighbour

    def first_end(self, node: int) -> int:
        """Return the end at a node of its first link."""
        return len(self.names) + int(np.argmax(self.ends[len(self.names) :] == node))

    @cached_property
    def several(self) -> dict[int, list[int]]:
        """The ends of their links by the hosts with several, each in the order of the links."""
        at = self.ends[len(self.names) :]
        many = np.bincount(at, minlength=len(self.names)) > 1
        found: dict[int, list[int]] = {
            host: [] for host in np.flatnonzero(many & (self.kinds == HOST)).tolist()
        }
        if found:
            for end, node in enumerate(at.tolist(), len(self.names)):
                if node in found:
                    found[node].append(end)
        return found

    def host_ends(self, host: int) -> list[int]:
        """Return the ends by which a host sends: those of its links, or itself if it has one."""
        return self.several.get(host, [host])

    def access(self, end: int) -> Port:
        """Return the port of a host at one of its ends, see `host_ends`."""
        return (end, int(self.racks[end])) if end < len(self.names) else self.port_at(end)

    @cached_property
    def attached(self) -> Numbers:
        """The ends of all hosts, see `host_ends`, ascending."""
        if not self.several:
            return self.hosts.astype(np.int64)
        return np.sort([end for host in self.hosts.tolist() for end in self.host_ends(host)])

    @cached_property
    def has_direct_links(self) -> bool:
        """Whether a link joins two hosts."""
        return bool(((self.kinds[self.a] == HOST) & (self.kinds[self.b] == HOST)).any())

    def at_ends(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return values of links at both of their ends, and at hosts with one link."""
        found = np.zeros(len(self.ends), dtype=values.dtype)
        found[len(self.names) :] = np.repeat(values, 2)
        found[self.ends[len(self.names) :]] = np.repeat(values, 2)
        return found

    def far(self, neighbour: int) -> int:
        """Return the node of a neighbour."""
        return int(self.ends[neighbour])

    def reverse(self, port: Port) -> Port:
        """Return the port at the other end of the link."""
        node, neighbour = port
        own = neighbour - len(self.names)
        return self.far(neighbour), node if own < 0 else len(self.names) + (own ^ 1)

    def neighbours_by(self, node: int, other: int) -> list[int]:
        """Return the neighbours by which a node has links to another one; none without a link."""
        only = [other] if (node, other) in self.links else []
        return self.bundles.get((node, other), only)

    def port(self, name: str, neighbour: str) -> Port | None:
        """Return a port by names, of one link only; None if there is none.

        neighbour: "s1", or "s1#2" for the second of several links.
        """
        plain = neighbour.partition("#")[0]
        if name not in self.numbers or plain not in self.numbers:
            return None
        node = self.numbers[name]
        for one in self.neighbours_by(node, self.numbers[plain]):
            if self.end_names[one] == neighbour:
                return node, one
        return None

    def no_link(self, name: str, neighbour: str) -> tuple[str, str]:
        """Return why a name of a neighbour names no link of a node, and what is allowed."""
        other = neighbour.partition("#")[0]
        several = self.bundles.get((self.numbers[name], self.numbers[other]), [])
        if several:
            what = f"{len(several)} links lead from {name} to {other}: {neighbour} is none of them"
            return what, ", ".join(self.end_names[one] for one in several)
        what = f"there is no link between {name} and {neighbour}"
        return what, f"{name} has links to {', '.join(self.neighbours(name)[:20])}"

    def ends_of(self, link: int) -> list[str]:
        """Return the names of the two ends of a link, the second as a neighbour of the first."""
        return [self.names[self.a[link]], self.end_names[self.ports[1][link]]]

    def egresses(self, path: Sequence[int]) -> list[Port]:
        """Return the ports of a path, given by its first node and the neighbours from there on.

        A node to which several links lead stands for the first of them.
        """
        found = []
        node = path[0]
        for neighbour in path[1:]:
            chosen = self.bundles.get((node, neighbour), [neighbour])[0]
            found.append((node, chosen))
            node = self.far(chosen)
        return found

    def path_ends(self, path: Sequence[int]) -> tuple[int, int]:
        """Return the ends, see `host_ends`, of the hosts between which a path leads."""
        ports = self.egresses(path)
        ends = (self.link_ends(ports[0])[0], self.link_ends(ports[-1])[1])
        first, last = (end if self.far(end) in self.several else self.far(end) for end in ends)
        return first, last

    @cached_property
    def hosts(self) -> npt.NDArray[np.uint32]:
        """Numbers of the hosts."""
        return np.flatnonzero(self.kinds == HOST).astype(np.uint32)

    @cached_property
    def racks(self) -> npt.NDArray[np.uint32]:
        """The switch to which a host is attached, by its first link; for a switch, itself.

        By the number of a node or, for the links of hosts with several, of the end of a link.
        """
        racks = self.ends.astype(np.uint32)
        own = racks[len(self.names) :].copy()
        other = np.stack([self.b, self.a], axis=1).ravel()
        places = np.flatnonzero(self.kinds[own] == HOST)[::-1]  # of several the first one stays
        racks[own[places]] = other[places]
        racks[len(self.names) + places] = other[places]
        return racks

    @cached_property
    def leaves(self) -> npt.NDArray[np.uint32]:
        """Like racks, but the switch behind the NIC for hosts that share one."""
        if self.nic_size == 1:
            return self.racks
        above = np.arange(len(self.names), dtype=np.uint32)
        nics = self.nics
        for end, other in ((self.a, self.b), (self.b, self.a)):
            up = np.isin(end, nics) & (self.kinds[other] == SWITCH)
            above[end[up]] = other[up]
        leaves = above[self.racks]
        leaves[nics] = nics
        return leaves

    @cached_property
    def nics(self) -> npt.NDArray[np.uint32]:
        """Node numbers of the NICs that hosts share."""
        shared = np.unique(self.racks[self.hosts]) if self.nic_size > 1 else np.zeros(0)
        return shared.astype(np.uint32)

    @cached_property
    def end_rates(self) -> npt.NDArray[np.uint64]:
        """The rate of a host's links, or its share of its NIC's [bit/s]; 0 for switches.

        By the number of a node or of the end of a link.
        """
        own = self.ends[len(self.names) :]
        shares = np.repeat(self.rates, 2) // self.nic_size
        ends = np.where(self.kinds[own] == HOST, shares, np.uint64(0))
        rates = np.zeros(len(self.names), dtype=np.uint64)
        np.add.at(rates, own, ends)
        return np.concatenate([rates, ends])

    @property
    def host_rates(self) -> npt.NDArray[np.uint64]:
        """For every node number, the rate of a host's links [bit/s], see `end_rates`."""
        return self.end_rates[: len(self.names)]

    @cached_property
    def servers(self) -> npt.NDArray[np.uint32]:
        """The number of its server, from 0, by node or end of a link; switches belong to none."""
        servers = np.full(len(self.names), np.iinfo(np.uint32).max, dtype=np.uint32)
        servers[self.hosts] = np.arange(len(self.hosts)) // self.server_size
        return servers[self.ends]

    @cached_property
    def failed_links(self) -> frozenset[int]:
        """Links that are down from the start."""
        return frozenset(link for link, down, _ in self.failures if down == 0)

    @cached_property
    def host_names(self) -> frozenset[str]:
        """Names of the hosts."""
        return frozenset(self.names[host] for host in self.hosts.tolist())

    def is_host(self, name: str) -> bool:
        """Whether there is a host with that name."""
        return name in self.host_names

    def link_index(self, name_a: str, name_b: str) -> int:
        """Return the number of the link between two nodes. Raises KeyError if there is none."""
        port = self.port(name_a, name_b)
        if port is None:
            raise KeyError(f"{name_a}:{name_b}")
        return self.links[port]

    def neighbours(self, name: str) -> list[str]:
        """Names of the nodes to which a node has links, in the order of the links."""
        node = self.numbers[name]
        return [self.end_names[b] for a, b in self.links if a == node]

    def parts(self, failed: frozenset[int] | None = None) -> npt.NDArray[np.int64]:
        """Return the lowest that each reaches over links that are up at the start.

        By node, and for hosts with several links, which forward nothing, by the end of each.
        """
        failed = self.failed_links if failed is None else failed
        up = np.array([link not in failed for link in range(len(self.a))], dtype=bool)
        part = np.arange(len(self.ends))
        at = self.ends[len(self.names) :].copy()
        for ends in self.several.values():
            at[np.array(ends) - len(self.names)] = ends
        a, b = at[::2][up], at[1::2][up]
        while True:  # assign the lower number to both ends of every link until nothing changes
            lowest = np.minimum(part[a], part[b])
            before = part.copy()
            np.minimum.at(part, a, lowest)
            np.minimum.at(part, b, lowest)
            part = part[part]
            if np.array_equal(part, before):
                return part

    def cut_off(self, failed: frozenset[int] | None = None) -> list[str]:
        """Hosts that the first host cannot reach over links that are up at the start."""
        part = self.parts(failed)
        first = set(part[self.host_ends(int(self.hosts[0]))].tolist())
        return [
            self.names[host]
            for host in self.hosts.tolist()
            if first.isdisjoint(part[self.host_ends(host)].tolist())
        ]


NO_NETWORK = Topology(
    (),
    np.zeros(0, np.uint8),
    np.zeros(0, np.uint32),
    np.zeros(0, np.uint32),
    np.zeros(0, np.uint64),
    np.zeros(0, np.int64),
)
"""A network without any node."""


@dataclass
class Wiring:
    """Nodes and links while a kind adds them."""

    hosts: list[str] = field(default_factory=list)
    switches: list[str] = field(default_factory=list)
    links: list[tuple[str, str, int, int]] = field(default_factory=list)

    def add_hosts(self, count: int) -> None:
        """Add the hosts h0, h1, ..."""
        self.hosts = [f"h{number}" for number in range(count)]

    def link(self, a: str, b: str, rate: int, delay: int) -> None:
        """Add a link of a rate [bit/s] and a delay [ps]."""
        self.links.append((a, b, rate, delay))

    def share_nics(self, size: int) -> list[str]:
        """Put a NIC, nic0, ..., between every `size` consecutive hosts and their switch.

        Return the problems: NICs whose hosts are not on one switch.
        """
        place = {end: number for number, link in enumerate(self.links) for end in link[:2]}
        wrong = []
        for number in range(len(self.hosts) // size):
            nic, hosts = f"nic{number}", self.hosts[number * size : (number + 1) * size]
            up = {
                (b if a == host else a, rate, delay)
                for host in hosts
                for a, b, rate, delay in (self.links[place[host]],)
            }
            if len(up) > 1:
                wrong.append(f"{hosts[0]} to {hosts[-1]}")
            switch, rate, delay = min(up)
            self.switches.append(nic)
            for host in hosts:
                self.links[place[host]] = (host, nic, rate, 0)
            self.link(nic, switch, rate, delay)
        return wrong

    def finish(self) -> Topology:
        """Return the arrays."""
        names = (*self.hosts, *self.switches)
        numbers = {name: number for number, name in enumerate(names)}
        kinds = [HOST] * len(self.hosts) + [SWITCH] * len(self.switches)
        return Topology(
            names=names,
            kinds=np.array(kinds, dtype=np.uint8),
            a=np.array([numbers[link[0]] for link in self.links], dtype=np.uint32),
            b=np.array([numbers[link[1]] for link in self.links], dtype=np.uint32),
            rates=np.array([link[2] for link in self.links], dtype=np.uint64),
            delays=np.array([link[3] for link in self.links], dtype=np.int64),
        )


_BY_CODEWORDS = {0: (0.01, 0.1, 1, 2.5, 5, 10, 40), 1: (25, 50, 100), 2: (200, 400), 4: (800,)}
CODEWORDS = {round(one * 10**9): count for count, rates in _BY_CODEWORDS.items() for one in rates}
"""Codewords of RS-FEC that a link interleaves, by its rate [bit/s]; 0: Ethernet has none there.

200 and 400 Gb/s: Gustlin, A deep dive into the 802.3bs 200GBASE-R and 400GBASE-R PCS/PMA (Ethernet
Alliance, 2018); up to 100 Gb/s Intel AN 846 and AMD PG371; 800 Gb/s recalled: two times 400 Gb/s.
"""
#: Data of a codeword, 514 symbols of 10 bits, as the MAC counts them: 256 of 257 bits are its own.
CODEWORD_BITS = 514 * 10 * 256 // 257


def fec_latency(rate: int) -> int:
    """Return the time [ps] until all codewords that a link [bit/s] interleaves have arrived.

    Raises KeyError for a rate that Ethernet does not have.
    """
    return CODEWORDS[rate] * CODEWORD_BITS * 10**12 // rate


class Failure(Table):
    """A link that goes down during the run, and may come up again."""

    link: Link = Field(description="Its two ends.")
    down: Time = Field(description="When it goes down.")
    up: Annotated[Time | None, Never()] = Field(
        default=None, description="When it comes up again; none: never."
    )


class ScaleUp(Table):
    """The scale-up domain of a server: each host's link into it, and the delay across it."""

    rate: LinkRate = Field(description="Rate of each host's link into the domain.")
    delay: Time = Field(description="Delay across the domain.")


class TopologyTable(Kind):
    """The keys that every kind of topology has.

    source: the paper that a kind comes from, if any.
    """

    source: ClassVar[str] = ""
    lists_links: ClassVar[bool] = False
    """Whether the table, or a file, lists all links."""
    left_out = frozenset(
        {
            "random_failed_links",
            "dependency",
            "hosts_per_server",
            "hosts_per_nic",
            "failover",
            "phy",
        }
    )

    rate: LinkRate = Field(description="Rate of links without their own.")
    delay: Time = Field(description="One-way delay of links without their own.")
    failed_links: list[Link] = Field(
        default=[], description="Links that are down from the start, each given by its two ends."
    )
    random_failed_links: int = Field(
        default=0,
        ge=0,
        description="Number of links between switches that fail, drawn from the seed.",
    )
    dependency: Literal["any", "cyclic"] = Field(
        default="any",
        description="Condition for random failures; cyclic: the remaining routes can deadlock.",
    )
    failures: list[Failure] = Field(
        default=[], description="Links that go down during the run, and optionally come up again."
    )

    hosts_per_server: int = Field(
        default=1, ge=1, le=1024, description="Number of consecutive hosts that form a server."
    )
    hosts_per_nic: int = Field(
        default=1, ge=1, le=64, description="Number of consecutive hosts of a server behind a NIC."
    )
    scale_up: ScaleUp | None = Field(
        default=None,
        description="Domain that connects the hosts of a server; none: they use the network.",
    )
    failover: bool = Field(
        default=False,
        description="Flows of a host whose link fails move to another host of its server.",
    )
    phy: Literal["ideal", "rs-fec"] = Field(
        default="ideal",
        description="What links add to their delay. rs-fec: the time in which the codewords of "
        "RS-FEC arrive that a link interleaves, as none can be corrected before: 5120 bits each, 1 "
        "at 25 to 100 Gb/s, 2 at 200 and 400 Gb/s, 4 at 800 Gb/s; 204.8 ns at 25 Gb/s, 25.6 ns at "
        "400 Gb/s, nothing at 40 Gb/s and below 25 Gb/s. What decoders and modules take besides "
        "belongs into 'delay'.",
    )

    def wire(self) -> Wiring:
        """Create nodes and links."""
        raise NotImplementedError

    def may_fall_apart(self) -> bool:
        """Whether hosts need not reach each other: traffic between those that do not is refused."""
        return False

    def read(
        self,
        folder: FilePath,  # noqa: ARG002 (some need them)
        findings: Findings,  # noqa: ARG002
        path: Path,  # noqa: ARG002
    ) -> TopologyTable | None:
        """Return the table to build: if a file is read, another one, of kind explicit.

        folder: that of the experiment file. Notes problems of the file, and then returns None.
        """
        return self

    @classmethod
    def shown(cls, form: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what a report shows of a canonical form."""
        return form

    def problems(self) -> list[tuple[Path, str, str | None]]:
        """Problems other than types: (path inside the table, what, allowed)."""
        return []

    def filled(self) -> Self:
        """Return the table with defaults: rates and delays of tiers default to those of hosts."""
        absent = [name for name in type(self).model_fields if getattr(self, name) is None]
        rates = {name: self.rate for name in absent if name.endswith("_rate")}
        delays = {name: self.delay for name in absent if name.endswith("_delay")}
        return self.model_copy(update=rates | delays)


KINDS: Kinds[type[TopologyTable]] = Kinds(
    {
        "pyorch.network.kinds": "star dumbbell line ring fat_tree leaf_spine rail_optimised "
        "dragonfly explicit",
        "pyorch.network.file": "file",
    }
)
"""Every kind of topology and the model of its table."""

K = TypeVar("K", bound=type[TopologyTable])


def topology(kind: str) -> Callable[[K], K]:
    """Register a kind of topology."""

    def register(model: K) -> K:
        KINDS[kind] = model
        model.registered = kind
        return model

    return register


@dataclass(frozen=True)
class ResolvedTopology:
    """A topology with defaults filled in, and its network."""

    table: TopologyTable
    network: Topology


def resolve(
    data: object,
    findings: Findings,
    path: Path = ("topology",),
    folder: FilePath = FilePath(),
) -> ResolvedTopology | None:
    """Validate a [topology] table as written; note problems and return None if there are any.

    folder: that of the files that it names.
    """
    if not isinstance(data, Mapping):
        findings.add(path, "missing", None, "add a table [topology] with its 'kind'")
        return None
    before = len(findings.problems)
    table = findings.validate_kind("topology", KINDS, dict(data), path)
    if table is None:
        return None
    for at, what, allowed in table.problems():
        findings.add((*path, *at), what, allowed)
    if table.dependency == "cyclic" and not table.random_failed_links:
        what = "without random failed links nothing is drawn until the dependency is cyclic"
        findings.add((*path, "dependency"), what, "with random_failed_links above 0")
    if len(findings.problems) > before:
        return None
    falls_apart = table.may_fall_apart()
    table = table.read(folder, findings, path)
    if table is None or not (
        _check_nics(table, findings, path) and _check_phy(table, findings, path)
    ):
        return None
    network = _wired(table)
    _check_links(table, network, findings, path)
    _check_servers(table, network, findings, path)
    if len(findings.problems) > before:
        return None
    canonical = _canonical(table, network)
    network = _with_failures(network, canonical)
    if not falls_apart:
        _check_connected(network, table, findings, path)
    return ResolvedTopology(canonical, network) if len(findings.problems) == before else None


@lru_cache(maxsize=8)  # a run, and its metrics, ask for the same one several times
def build(table: TopologyTable) -> Topology:
    """Build the network of a topology. Raises UserError if a failed link does not exist."""
    findings = Findings("topology")
    network = _wired(table)
    _check_links(table, network, findings, ())
    if findings.problems:
        raise UserError(findings.problems)
    return _with_failures(network, table)


def _wired(table: TopologyTable) -> Topology:
    with code_of(type(table), f"topology {table.kind!r}"):
        wiring = table.wire()
        if table.phy == "rs-fec":
            wiring.links = [
                (a, b, rate, delay + fec_latency(rate)) for a, b, rate, delay in wiring.links
            ]
        if table.hosts_per_nic > 1:
            wiring.share_nics(table.hosts_per_nic)
        return wiring.finish()


def _check_nics(table: TopologyTable, findings: Findings, path: Path) -> bool:
    """Note what prevents hosts from sharing NICs; return whether nothing does."""
    size, at = table.hosts_per_nic, (*path, "hosts_per_nic")
    before = len(findings.problems)
    if table.hosts_per_server % size:
        what = f"a server has {table.hosts_per_server} hosts, and a NIC {size}"
        findings.add(at, what, "a number that divides hosts_per_server")
    elif size > 1 and table.failover:
        what = "hosts that share a NIC cannot fail over"
        findings.add((*path, "failover"), what, "with a NIC for each host")
    elif size > 1 and table.lists_links:
        findings.add(at, f"links of kind '{table.kind}' are listed", None, "list NICs as switches")
    elif size > 1:
        with code_of(type(table), f"topology {table.kind!r}"):
            wiring = table.wire()
        if len(wiring.hosts) % size == 0:
            for hosts in wiring.share_nics(size):
                what = f"{hosts} are not on one switch"
                findings.add(at, what, "hosts of one switch behind a NIC")
    return len(findings.problems) == before


def _check_phy(table: TopologyTable, findings: Findings, path: Path) -> bool:
    """Note a rate at which it is not known what links add; return whether there is none."""
    if table.phy == "ideal":
        return True
    with code_of(type(table), f"topology {table.kind!r}"):
        strange = {link[2] for link in table.wire().links} - CODEWORDS.keys()
    if strange:
        what = f"Ethernet has no links of {format_rate(min(strange))}, so no RS-FEC of theirs"
        allowed = f"links of {', '.join(map(format_rate, sorted(CODEWORDS)))}"
        findings.add((*path, "phy"), what, allowed, "put what they take into 'delay'")
    return not strange


def trunks(network: Topology) -> list[int]:
    """Return the links between switches, not NICs, that have not failed from the start."""
    both = (network.kinds[network.a] == SWITCH) & (network.kinds[network.b] == SWITCH)
    both &= ~(np.isin(network.a, network.nics) | np.isin(network.b, network.nics))
    return [link for link in np.flatnonzero(both).tolist() if link not in network.failed_links]


def _check_links(table: TopologyTable, network: Topology, findings: Findings, path: Path) -> None:
    """Every failed link must be a link."""
    named: list[tuple[Path, list[str]]] = [
        (("failed_links", str(n)), link) for n, link in enumerate(table.failed_links)
    ]
    named += [(("failures", str(n), "link"), f.link) for n, f in enumerate(table.failures)]
    for at, link in named:
        check_link(network, link, findings, (*path, *at))
    for number, failure in enumerate(table.failures):
        if failure.up is not None and failure.up <= failure.down:
            at = (*path, "failures", str(number), "up")
            findings.add(at, "the link comes up before it goes down", "a time after 'down'")


def _check_servers(table: TopologyTable, network: Topology, findings: Findings, path: Path) -> None:
    size, hosts = table.hosts_per_server, len(network.hosts)
    if network.several and table.failover:
        what = f"{network.names[next(iter(network.several))]} has several links"
        allowed = "hosts with one link each; those with several move flows among these anyway"
        findings.add((*path, "failover"), what, allowed)
    if hosts % size:
        what = f"{hosts} hosts in servers of {size}"
        findings.add((*path, "hosts_per_server"), what, "a number that divides that of the hosts")
    for key in ("scale_up", "failover"):
        if size == 1 and getattr(table, key):
            what = "a server of one host cannot fail over"
            findings.add((*path, key), what, "with 'hosts_per_server' from 2")


def check_link(network: Topology, ends: Sequence[str], findings: Findings, path: Path) -> bool:
    """Note a problem unless there is a link between two nodes; return whether there is one."""
    unknown = [name for name in ends if name.partition("#")[0] not in network.numbers]
    if "#" in ends[0]:
        unknown.append(ends[0])
    for name in unknown:
        hint = suggest(name, network.names)
        findings.add(path, f"there is no node {name!r}", _some_names(network), hint)
    if unknown:
        return False
    if network.port(*ends) is None:
        what, allowed = network.no_link(*ends)
        findings.add(path, what, allowed)
        return False
    return True


def _some_names(network: Topology) -> str:
    names = network.names
    return ", ".join(names if len(names) <= 20 else (*names[:10], "...", *names[-5:]))


def _canonical(table: TopologyTable, network: Topology) -> TopologyTable:
    """Return the table with links as drawn and sorted, and defaults filled in."""
    failed = {network.link_index(*link) for link in table.failed_links}
    failures = sorted(
        ((network.link_index(*failure.link), failure) for failure in table.failures),
        key=lambda failure: (failure[0], failure[1].down),
    )
    return table.filled().model_copy(
        update={
            "failed_links": [network.ends_of(link) for link in sorted(failed)],
            "failures": [
                failure.model_copy(update={"link": network.ends_of(link)})
                for link, failure in failures
            ],
        }
    )


def _with_failures(network: Topology, table: TopologyTable) -> Topology:
    failures = [(network.link_index(*link), 0, NEVER) for link in table.failed_links]
    failures += [
        (network.link_index(*one.link), one.down, NEVER if one.up is None else one.up)
        for one in table.failures
    ]
    domain = table.scale_up
    return replace(
        network,
        failures=tuple(failures),
        server_size=table.hosts_per_server,
        scale_up=None if domain is None else (domain.rate, domain.delay),
        failover=table.failover,
        nic_size=table.hosts_per_nic,
    )


def _check_connected(
    network: Topology, table: TopologyTable, findings: Findings, path: Path
) -> None:
    lost = network.cut_off()
    if lost:
        at = (*path, "failed_links") if table.failed_links else path
        listed = ", ".join(lost[:10])
        findings.add(
            at,
            f"there is no path from {network.names[network.hosts[0]]} to {listed}",
            "hosts that can all reach each other",
        )
    most = len(trunks(network))
    if table.random_failed_links > most:
        what = f"{table.random_failed_links} of {most} links between switches are to fail"
        findings.add((*path, "random_failed_links"), what, f"0 to {most}")
