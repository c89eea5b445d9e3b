"""The kinds of topology: each is one class with its keys and how it is wired."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, ClassVar, Self

from pydantic import Field
from typing_extensions import override

from pyorch.base.errors import suggest
from pyorch.base.fields import Link, LinkRate, Table, Time
from pyorch.base.findings import Path
from pyorch.base.units import format_rate, format_time
from pyorch.network.topology import TopologyTable, Wiring, topology

MOST_SHOWN, MOST_VALUES = 100, 8
"""Links that a report lists one by one, and the rates and delays that it counts of more."""


class _Tiers(TopologyTable):
    """Kinds with hosts under leaves, whose uplinks may be fewer or slower."""

    first_tier: ClassVar[str] = "uplink_rate"
    """The key that `oversubscription` can replace."""

    oversubscription: float | None = Field(
        default=None,
        ge=1e-3,
        le=1e3,
        description="Rate of a leaf's hosts over that of its uplinks, instead of their rate.",
    )

    def hosts_for_each_uplink(self) -> float:
        """Return the number of a leaf's hosts per uplink."""
        raise NotImplementedError

    @override
    def problems(self) -> list[tuple[Path, str, str | None]]:
        if self.oversubscription is None or getattr(self, self.first_tier) is None:
            return []
        what = f"it contradicts {self.first_tier}"
        return [(("oversubscription",), what, "one of the two")]

    def rate_of(self, key: str) -> int:
        """Return the rate of a tier [bit/s]."""
        given: int | None = getattr(self, key)
        if given is not None:
            return given
        if self.oversubscription is None:
            return self.rate
        return round(self.rate * self.hosts_for_each_uplink() / self.oversubscription)

    @override
    def filled(self) -> Self:
        keys = [name for name in type(self).model_fields if name.endswith("_rate")]
        rates = {key: self.rate_of(key) for key in keys}
        full = self.model_copy(update={**rates, "oversubscription": None})
        return super(_Tiers, full).filled()


class _Trunks(TopologyTable):
    """Kinds with links between switches that may differ from the hosts' links."""

    trunk_rate: LinkRate | None = Field(
        default=None, description="Rate of links between switches; none: as the others."
    )
    trunk_delay: Time | None = Field(
        default=None, description="Delay of links between switches; none: as the others."
    )

    def trunk(self, wiring: Wiring, a: str, b: str) -> None:
        """Add a link between two switches."""
        rate = self.rate if self.trunk_rate is None else self.trunk_rate
        delay = self.delay if self.trunk_delay is None else self.trunk_delay
        wiring.link(a, b, rate, delay)


@topology("star")
class Star(TopologyTable):
    """Hosts h0, h1, ... on one switch s0."""

    hosts: int = Field(ge=2, le=65536, description="Number of hosts.")

    @override
    def wire(self) -> Wiring:
        wiring = Wiring(switches=["s0"])
        wiring.add_hosts(self.hosts)
        for host in wiring.hosts:
            wiring.link(host, "s0", self.rate, self.delay)
        return wiring


@topology("dumbbell")
class Dumbbell(_Trunks):
    """The first `left` hosts on s0, the next `right` on s1, and one link between s0 and s1."""

    left: int = Field(ge=1, le=65536, description="Hosts on s0.")
    right: int = Field(ge=1, le=65536, description="Hosts on s1.")

    @override
    def wire(self) -> Wiring:
        wiring = Wiring(switches=["s0", "s1"])
        wiring.add_hosts(self.left + self.right)
        for number, host in enumerate(wiring.hosts):
            wiring.link(host, "s0" if number < self.left else "s1", self.rate, self.delay)
        self.trunk(wiring, "s0", "s1")
        return wiring


class _Chain(_Trunks):
    """Switches one after the other; host i is on switch i // hosts_per_switch."""

    hosts_per_switch: int = Field(default=1, ge=1, le=4096, description="Hosts on each switch.")

    def chain(self, switches: int) -> Wiring:
        """Draw the switches, their hosts, and the links from each switch to the next."""
        wiring = Wiring(switches=[f"s{number}" for number in range(switches)])
        wiring.add_hosts(switches * self.hosts_per_switch)
        for number, host in enumerate(wiring.hosts):
            wiring.link(host, f"s{number // self.hosts_per_switch}", self.rate, self.delay)
        for number in range(switches - 1):
            self.trunk(wiring, f"s{number}", f"s{number + 1}")
        return wiring


@topology("line")
class Line(_Chain):
    """Switches s0, s1, ... in a line, with hosts on each."""

    switches: int = Field(ge=1, le=4096, description="Number of switches.")

    @override
    def wire(self) -> Wiring:
        return self.chain(self.switches)


@topology("ring")
class Ring(_Chain):
    """Switches s0, s1, ... in a ring, with hosts on each: of two, h0 and h1 are those of s0."""

    switches: int = Field(ge=3, le=4096, description="Number of switches.")

    @override
    def wire(self) -> Wiring:
        wiring = self.chain(self.switches)
        self.trunk(wiring, f"s{self.switches - 1}", "s0")
        return wiring


@topology("fat_tree")
class FatTree(_Tiers):
    """A k-ary fat-tree of k^3/4 hosts.

    Host i is on edge i // (k/2); within a pod every edge has a link to every aggregation switch;
    aggregation switch j of a pod has links to the cores j*(k/2) .. j*(k/2)+k/2-1. Edges and
    aggregation switches are numbered pod by pod.
    """

    source: ClassVar[str] = (
        "Al-Fares, Loukissas, Vahdat: A Scalable, Commodity Data Center Network Architecture. "
        "SIGCOMM 2008."
    )

    first_tier: ClassVar[str] = "aggregation_rate"

    k: int = Field(ge=2, le=64, description="Ports of a switch; an even number.")
    aggregation_rate: LinkRate | None = Field(
        default=None, description="Rate between edges and aggregation switches; none: as hosts'."
    )
    aggregation_delay: Time | None = Field(
        default=None, description="Delay between edges and aggregation switches; none: as hosts'."
    )
    core_rate: LinkRate | None = Field(
        default=None, description="Rate between aggregation switches and cores; none: as hosts'."
    )
    core_delay: Time | None = Field(
        default=None, description="Delay between aggregation switches and cores; none: as hosts'."
    )

    @override
    def problems(self) -> list[tuple[Path, str, str | None]]:
        odd = (("k",), f"k is odd: {self.k}", "an even number")
        return super().problems() + ([odd] if self.k % 2 else [])

    @override
    def hosts_for_each_uplink(self) -> float:
        return 1 / self.hosts_per_nic

    @override
    def wire(self) -> Wiring:
        half, edges = self.k // 2, self.k * self.k // 2
        tiers = (("edge", edges), ("agg", edges), ("core", half * half))
        wiring = Wiring(switches=[f"{tier}{n}" for tier, count in tiers for n in range(count)])
        wiring.add_hosts(edges * half)
        for number, host in enumerate(wiring.hosts):
            wiring.link(host, f"edge{number // half}", self.rate, self.delay)
        for edge in range(edges):
            for up in range(half):
                aggregation = edge // half * half + up
                self._up(wiring, f"edge{edge}", f"agg{aggregation}", "aggregation")
        for aggregation in range(edges):
            for up in range(half):
                core = aggregation % half * half + up
                self._up(wiring, f"agg{aggregation}", f"core{core}", "core")
        return wiring

    def _up(self, wiring: Wiring, a: str, b: str, tier: str) -> None:
        delay = getattr(self, f"{tier}_delay")
        wiring.link(a, b, self.rate_of(f"{tier}_rate"), self.delay if delay is None else delay)


class _Leaves(_Tiers):
    """Leaves leaf0, ... linked to all spines spine0, ..."""

    left_out = TopologyTable.left_out | {"links_per_spine"}

    links_per_spine: int = Field(
        default=1, ge=1, le=64, description="Links between each leaf and each spine."
    )
    spines: int = Field(ge=1, le=4096, description="Number of spines.")
    uplink_rate: LinkRate | None = Field(
        default=None, description="Rate between leaves and spines; none: as hosts'."
    )
    uplink_delay: Time | None = Field(
        default=None, description="Delay between leaves and spines; none: as hosts'."
    )

    def size(self) -> tuple[int, int]:
        """Return the number of leaves, and of hosts on each."""
        raise NotImplementedError

    def leaves_of(self, host: int) -> Sequence[int]:
        """Return the leaves of a host, one for each link."""
        return (host // self.size()[1],)

    @override
    def hosts_for_each_uplink(self) -> float:
        return self.size()[1] / self.hosts_per_nic / (self.spines * self.links_per_spine)

    @override
    def wire(self) -> Wiring:
        number, on_each = self.size()
        leaves = [f"leaf{leaf}" for leaf in range(number)]
        spines = [f"spine{spine}" for spine in range(self.spines)]
        wiring = Wiring(switches=leaves + spines)
        wiring.add_hosts(number // len(self.leaves_of(0)) * on_each)
        rate = self.rate_of("uplink_rate")
        delay = self.delay if self.uplink_delay is None else self.uplink_delay
        for place, host in enumerate(wiring.hosts):
            for own in self.leaves_of(place):
                wiring.link(host, leaves[own], self.rate, self.delay)
        for leaf in leaves:
            for spine in spines:
                for _ in range(self.links_per_spine):
                    wiring.link(leaf, spine, rate, delay)
        return wiring


@topology("leaf_spine")
class LeafSpine(_Leaves):
    """Leaves leaf0, ... linked to all spines spine0, ...; host i on leaf i // hosts_per_leaf.

    With n = links_per_host, leaves form groups of n with the same hosts: host i has a link to each
    leaf of group i // hosts_per_leaf, as servers on two top-of-rack switches have.
    """

    left_out = _Leaves.left_out | {"links_per_host"}

    leaves: int = Field(ge=1, le=4096, description="Number of leaves.")
    hosts_per_leaf: int = Field(ge=1, le=4096, description="Hosts on each leaf.")
    links_per_host: int = Field(
        default=1, ge=1, le=64, description="Links of each host, each to another leaf."
    )

    @override
    def size(self) -> tuple[int, int]:
        return self.leaves, self.hosts_per_leaf

    @override
    def leaves_of(self, host: int) -> Sequence[int]:
        first = host // self.hosts_per_leaf * self.links_per_host
        return range(first, first + self.links_per_host)

    @override
    def problems(self) -> list[tuple[Path, str, str | None]]:
        found, at = super().problems(), ("links_per_host",)
        if self.leaves % self.links_per_host:
            what = f"{self.leaves} leaves in groups of {self.links_per_host}"
            found.append((at, what, "a number that divides that of the leaves"))
        if self.links_per_host > 1 and self.hosts_per_nic > 1:
            found.append((at, "hosts share NICs, which have one link", "1 with hosts_per_nic"))
        return found


@topology("rail_optimised")
class RailOptimised(_Leaves):
    """Groups of servers; host r of each server of a group is on the same leaf, rail r.

    With n = hosts_per_server, leaf g n + r is rail r of group g, and host s n + r is host r of
    server s, which is in group s // servers_per_group. All leaves are linked to all spines. With
    hosts_per_nic a rail has the hosts of one NIC of each server.
    """

    groups: int = Field(ge=1, le=4096, description="Number of groups of servers.")
    servers_per_group: int = Field(ge=1, le=4096, description="Servers of each group.")

    @override
    def size(self) -> tuple[int, int]:
        rails = self.hosts_per_server // self.hosts_per_nic
        return self.groups * rails, self.servers_per_group * self.hosts_per_nic

    @override
    def leaves_of(self, host: int) -> Sequence[int]:
        server, place = divmod(host, self.hosts_per_server)
        rails = self.hosts_per_server // self.hosts_per_nic
        return (server // self.servers_per_group * rails + place // self.hosts_per_nic,)


@topology("dragonfly")
class Dragonfly(TopologyTable):
    """Groups of routers; all routers of a group are linked, and all groups by global links.

    Router r of group g is router{g a + r}, a being `routers_per_group`; host i is on router
    i // hosts_per_router. The global links of a group are numbered from 0, h = `global_links` on
    each router; number k leads to group (g + 1 + k mod (groups - 1)) mod groups.
    """

    source: ClassVar[str] = (
        "Kim, Dally, Scott, Abts: Technology-Driven, Highly-Scalable Dragonfly Topology. ISCA 2008."
    )

    groups: int = Field(ge=2, le=4096, description="Number of groups.")
    routers_per_group: int = Field(ge=1, le=1024, description="Routers of each group.")
    hosts_per_router: int = Field(ge=1, le=4096, description="Hosts on each router.")
    global_links: int = Field(ge=1, le=1024, description="Links of a router to other groups.")
    local_rate: LinkRate | None = Field(
        default=None, description="Rate of links in a group; none: as hosts'."
    )
    local_delay: Time | None = Field(
        default=None, description="Delay of links in a group; none: as hosts'."
    )
    global_rate: LinkRate | None = Field(
        default=None, description="Rate of links between groups; none: as hosts'."
    )
    global_delay: Time | None = Field(
        default=None, description="Delay of links between groups; none: as hosts'."
    )

    @override
    def problems(self) -> list[tuple[Path, str, str | None]]:
        links, others = self.routers_per_group * self.global_links, self.groups - 1
        if links % others:
            what = f"{links} links of a group cannot be shared evenly by {others} other groups"
            allowed = "routers_per_group x global_links a multiple of groups - 1"
            return [(("global_links",), what, allowed)]
        return []

    def _global_ends(self) -> Iterator[tuple[int, int]]:
        """Numbers of the routers at the ends of each link between groups."""
        others = self.groups - 1
        for group in range(self.groups):
            for number in range(self.routers_per_group * self.global_links):
                turn, away = divmod(number, others)
                peer = (group + 1 + away) % self.groups
                # the link back has the same distance in the other direction
                back = turn * others + others - 1 - away
                if group < peer:
                    yield self._router(group, number), self._router(peer, back)

    def _router(self, group: int, number: int) -> int:
        """Return the router that has the global link of a number."""
        return group * self.routers_per_group + number // self.global_links

    @override
    def wire(self) -> Wiring:
        size = self.routers_per_group
        routers = [f"router{number}" for number in range(self.groups * size)]
        wiring = Wiring(switches=routers)
        wiring.add_hosts(len(routers) * self.hosts_per_router)
        for place, host in enumerate(wiring.hosts):
            wiring.link(host, routers[place // self.hosts_per_router], self.rate, self.delay)
        for first in range(0, len(routers), size):
            for a, b in combinations(routers[first : first + size], 2):
                wiring.link(a, b, *self._speed("local"))
        for one, other in self._global_ends():
            wiring.link(routers[one], routers[other], *self._speed("global"))
        return wiring

    def _speed(self, tier: str) -> tuple[int, int]:
        rate, delay = getattr(self, f"{tier}_rate"), getattr(self, f"{tier}_delay")
        return self.rate if rate is None else rate, self.delay if delay is None else delay


class ExplicitLink(Table):
    """A link of an explicit topology; rate and delay default to those of the topology."""

    between: Link = Field(description="Its two ends.")
    rate: LinkRate | None = Field(default=None, description="Its rate; none: that of the topology.")
    delay: Time | None = Field(
        default=None, description="Its one-way delay; none: that of the topology."
    )


@topology("explicit")
class Explicit(TopologyTable):
    """Nodes and links listed one by one."""

    lists_links: ClassVar[bool] = True

    hosts: list[str] = Field(min_length=2, description="Names of the hosts.")
    switches: list[str] = Field(default=[], description="Names of the switches.")
    links: list[ExplicitLink] = Field(
        min_length=1,
        description="Links, each between two nodes; two nodes may have several.",
    )

    @classmethod
    @override
    def shown(cls, form: Mapping[str, Any]) -> Mapping[str, Any]:
        links = form.get("links", [])
        if len(links) <= MOST_SHOWN:
            return form

        def counts(key: str, write: Callable[[int], str]) -> str:
            found = Counter(link[key] for link in links).most_common()
            told = [f"{write(value)} ({count:,})" for value, count in found[:MOST_VALUES]]
            return ", ".join([*told, *(["..."] if len(found) > MOST_VALUES else [])])

        rates, delays = counts("rate_bps", format_rate), counts("delay_ps", format_time)
        return {**form, "links": {"count": f"{len(links):,}", "rates": rates, "delays": delays}}

    @override
    def wire(self) -> Wiring:
        wiring = Wiring(hosts=list(self.hosts), switches=list(self.switches))
        for link in self.links:
            wiring.link(link.between[0], link.between[1], *self._speed(link))
        return wiring

    def _speed(self, link: ExplicitLink) -> tuple[int, int]:
        rate = self.rate if link.rate is None else link.rate
        return rate, self.delay if link.delay is None else link.delay

    @override
    def filled(self) -> Self:
        links = [
            link
            if link.rate is not None and link.delay is not None
            else link.model_copy(
                update=dict(zip(("rate", "delay"), self._speed(link), strict=True))
            )
            for link in self.links
        ]
        return super().filled().model_copy(update={"links": links})

    @override
    def problems(self) -> list[tuple[Path, str, str | None]]:
        names = [*self.hosts, *self.switches]
        found: list[tuple[Path, str, str | None]] = []
        for key, own in (("hosts", self.hosts), ("switches", self.switches)):
            found += [
                ((key, str(n)), *_name_problem(name))
                for n, name in enumerate(own)
                if _name_problem(name)[0]
            ]
        twice = sorted(name for name, count in Counter(names).items() if count > 1)
        found += [
            ((), f"two nodes are called {name!r}", "a unique name for every node") for name in twice
        ]
        return found + list(self._link_problems(set(names))) + list(self._host_problems())

    def _link_problems(self, names: set[str]) -> Iterator[tuple[Path, str, str | None]]:
        for number, link in enumerate(self.links):
            at, ends = ("links", str(number)), frozenset(link.between)
            for end in link.between:
                if end not in names:
                    yield at, f"there is no node {end!r}", suggest(end, names)
            if len(ends) == 1:
                yield at, "a link leads from a node to itself", "two different ends"

    def _host_problems(self) -> Iterator[tuple[Path, str, str | None]]:
        degree = Counter(end for link in self.links for end in link.between)
        for number, host in enumerate(self.hosts):
            if not degree[host]:
                yield ("hosts", str(number)), f"host {host!r} has no link", "one or several"


def _name_problem(name: str) -> tuple[str, str]:
    good = bool(name) and all(letter.isalnum() or letter in "-_" for letter in name)
    what = "" if good else f"{name!r} is not a valid node name"
    return what, "letters, digits, '-' and '_'"
