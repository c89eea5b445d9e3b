"""A run as removable parts: hosts, switches, links, flows, settings.

Everything is explicit: every link, every flow with the nodes on its path, every setting. A case is
immutable; its methods return smaller ones.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from pyorch.addons.lab.rules import AGENT, KEY, with_names

Part = tuple[str, ...]
"""What can be removed: ("host", "h0"), ("switch", "s0"), ("link", "s0", "s1"), ("flow", "3"),
("scheme", key, name), ("attribute", section, key), and ("fault", "0"), "route" and "node" alike."""
KINDS = ("host", "link", "switch", "flow")
"""The parts of network and traffic."""
SETTINGS = ("scheme", "attribute", "node", "route", "fault")
"""The other parts."""
ENTRIES = {"node": "nodes", "route": "routes", "fault": "faults"}
_RULES = ("attribute", AGENT, KEY)
"""Rules of all switches: the part of [tagger] instead of [[node]]."""


def _nodes_of(fault: Mapping[str, Any]) -> set[str]:
    """Return the host of a fault, or both ends of the link of its port."""
    return {str(fault["host"])} if fault.get("host") else set(str(fault["port"]).split(":"))


@dataclass(frozen=True)
class Link:
    """A link. rate: bit/s. delay: ps, one way.

    down: (down, up) times [ps]; down 0: from the start; up -1: forever.
    """

    a: str
    b: str
    rate: int
    delay: int
    down: tuple[tuple[int, int], ...] = ()

    @property
    def ends(self) -> frozenset[str]:
        """The names of both ends."""
        return frozenset((self.a, self.b))

    @property
    def part(self) -> Part:
        """The link as a part."""
        return ("link", self.a, self.b)


@dataclass(frozen=True)
class Flow:
    """A flow. number: in the original run. size: bytes, 0: endless. start, stop: ps.

    path: all nodes from source to destination, empty if the routes decide. ack: as in an experiment
    file. after: (number of a flow, delay [ps]) that it waits for. group: number of the group of
    flows that may wait for each other.
    """

    number: int
    src: str
    dst: str
    size: int
    start: int
    stop: int
    traffic_class: int
    rate: int = 0
    window: int = 0
    on_off: tuple[int, int] | None = None
    path: tuple[str, ...] = ()
    ack: str | tuple[str, ...] | None = None
    after: tuple[tuple[int, int], ...] = ()
    group: int = 0

    def crosses(self) -> set[frozenset[str]]:
        """The links of its path, each by its ends."""
        return {frozenset(pair) for pair in itertools.pairwise(self.path)}


@dataclass(frozen=True)
class Case:
    """An explicit run. run: [run] as in a file, but times in ps. settings: by part.

    nodes, routes, faults: entries as in a file.
    """

    hosts: tuple[str, ...]
    switches: tuple[str, ...]
    links: tuple[Link, ...]
    flows: tuple[Flow, ...]
    run: Mapping[str, Any]
    settings: Mapping[Part, Any] = field(default_factory=dict)
    nodes: tuple[Mapping[str, Any], ...] = ()
    routes: tuple[Mapping[str, Any], ...] = ()
    faults: tuple[Mapping[str, Any], ...] = ()

    # Parts

    def parts(self, kind: str) -> list[Part]:
        """All parts of a kind; of the links only those between switches."""
        if kind == "link":
            return [link.part for link in self.trunks]
        if kind == "flow":
            return [("flow", str(flow.number)) for flow in self.flows]
        if kind in ("scheme", "attribute"):
            return [part for part in self.settings if part[0] == kind]
        if kind in ENTRIES:
            return [(kind, str(number)) for number in range(len(getattr(self, ENTRIES[kind])))]
        return [(kind, name) for name in (self.hosts if kind == "host" else self.switches)]

    @property
    def trunks(self) -> list[Link]:
        """The links between switches."""
        return [link for link in self.links if not link.ends & set(self.hosts)]

    @property
    def is_pinned(self) -> bool:
        """Whether every flow has a path."""
        return all(flow.path for flow in self.flows)

    def without(self, parts: Collection[Part]) -> Case | None:
        """Remove parts, and parts that depend on them: flows of a host, hosts of a switch.

        Returns None if no flow would be left.
        """
        gone = {part[1] for part in parts if part[0] == "switch"}
        dead = {frozenset(part[1:]) for part in parts if part[0] == "link"}
        stranded = {
            end for link in self.links if link.ends & gone for end in link.ends & set(self.hosts)
        }
        hosts = {part[1] for part in parts if part[0] == "host"} | stranded
        numbers = {int(part[1]) for part in parts if part[0] == "flow"}
        flows = [
            flow
            for flow in self.flows
            if flow.number not in numbers
            and not {flow.src, flow.dst} & hosts
            and not set(flow.path) & gone
            and not flow.crosses() & dead
        ]
        if not flows:
            return None
        entries: dict[str, Any] = {
            name: tuple(
                entry
                for number, entry in enumerate(getattr(self, name))
                if (kind, str(number)) not in parts
            )
            for kind, name in ENTRIES.items()
        }
        smaller = replace(
            self,
            hosts=tuple(name for name in self.hosts if name not in hosts),
            switches=tuple(name for name in self.switches if name not in gone),
            links=tuple(
                one for one in self.links if one.ends not in dead and not one.ends & (gone | hosts)
            ),
            flows=_waiting(flows),
            settings={key: one for key, one in self.settings.items() if key not in parts},
            **entries,
        )
        return smaller._fitting(self)

    def used(self) -> Case:
        """Remove hosts without flows and, if flows have paths, everything off these paths."""
        ends = {end for flow in self.flows for end in (flow.src, flow.dst)}
        ends |= {name for entry in self.faults for name in _nodes_of(entry)}
        hosts = tuple(name for name in self.hosts if name in ends)
        links = [link for link in self.links if not link.ends & (set(self.hosts) - ends)]
        switches = self.switches
        if self.is_pinned:
            crossed = set[frozenset[str]]().union(*(flow.crosses() for flow in self.flows))
            links = [link for link in links if link.ends in crossed or link.ends & ends]
            linked = {end for link in links for end in link.ends}
            switches = tuple(name for name in switches if name in linked)
        return replace(self, hosts=hosts, switches=switches, links=tuple(links))._fitting(self)

    def _fitting(self, before: Case) -> Case:
        """Drop entries, and names in rules, of nodes or links that no longer exist.

        before: the case with these; names in rules that it does not have either are mistakes, and
        stay.
        """
        names = {*self.hosts, *self.switches}
        pairs = {link.ends for link in self.links}
        routes = (
            entry
            for entry in self.routes
            if frozenset((entry["switch"], entry["next"])) in pairs and entry["dst"] in names
        )
        return replace(
            self,
            settings=self._fitting_settings(before),
            nodes=tuple(self._fitting_nodes(before)),
            routes=tuple(routes),
            faults=tuple(entry for entry in self.faults if _nodes_of(entry) <= names),
        )

    def _fitting_settings(self, before: Case) -> dict[Part, Any]:
        """Remove from rules of all switches the names of nodes that are no neighbour of any."""
        settings = dict(self.settings)
        if _RULES in settings:
            gone = before._next_to_switches - self._next_to_switches
            settings[_RULES] = _without_names(settings[_RULES], gone)
        return settings

    def _fitting_nodes(self, before: Case) -> Iterator[Mapping[str, Any]]:
        """Entries for the nodes that exist; one for each of the rules that their switches have."""
        names = {*self.hosts, *self.switches}
        for entry in self.nodes:
            rules = str(entry.get(AGENT, {}).get(KEY, ""))
            owners: dict[str, list[str]] = defaultdict(list)
            for name in entry["names"]:
                node, _, peer = name.partition(":")
                if node not in names or (peer and peer not in self._neighbours[node]):
                    continue
                gone = before._neighbours[node] - self._neighbours[node]
                owners[_without_names(rules, gone)].append(name)
            for left, own in owners.items():
                smaller = {**entry, "names": own}
                yield from [smaller] if left == rules else self._with_rules(smaller, left)

    def _with_rules(self, entry: dict[str, Any], rules: str) -> Iterator[dict[str, Any]]:
        """An entry with other rules; without them, unless rules of all switches would apply.

        Nothing if the entry would be without effect.
        """
        section = {**entry[AGENT], KEY: rules}
        if not rules and _RULES not in self.settings:
            del section[KEY]
        entry = {**entry, AGENT: section}
        if not section:
            del entry[AGENT]
        if len(entry) > 1:
            yield entry

    def _with_names(self, change: Callable[[str], str]) -> Case:
        """The same with other names of neighbours in all rules."""
        settings = dict(self.settings)
        if _RULES in settings:
            settings[_RULES] = with_names(settings[_RULES], change)
        nodes = tuple(
            {**entry, AGENT: {**entry[AGENT], KEY: with_names(entry[AGENT][KEY], change)}}
            if KEY in entry.get(AGENT, {})
            else entry
            for entry in self.nodes
        )
        return replace(self, settings=settings, nodes=nodes)

    @cached_property
    def _neighbours(self) -> dict[str, set[str]]:
        """The neighbours of each node that has any."""
        found: dict[str, set[str]] = defaultdict(set)
        for link in self.links:
            found[link.a].add(link.b)
            found[link.b].add(link.a)
        return found

    @property
    def _next_to_switches(self) -> set[str]:
        return {node for switch in self.switches for node in self._neighbours[switch]}

    # Shorter paths

    def moved(self, host: str) -> Case | None:
        """Move a host to the next switch on its flows' paths; None if they have different ones."""
        ways = [
            flow.path if flow.src == host else flow.path[::-1]
            for flow in self.flows
            if host in (flow.src, flow.dst)
        ]
        if not ways or not all(len(way) > 3 for way in ways) or len({way[:3] for way in ways}) > 1:
            return None
        own, beyond = ways[0][1:3]
        flows = [
            replace(flow, path=tuple(_without_end(flow.path, host)), ack=None)
            if host in (flow.src, flow.dst)
            else flow
            for flow in self.flows
        ]
        links = [
            replace(link, a=host, b=beyond) if link.ends == {host, own} else link
            for link in self.links
        ]
        return replace(self, flows=tuple(flows), links=tuple(links))._fitting(self).used()

    def merged(self, kept: str, gone: str) -> Case | None:
        """Merge the two switches at the ends of a link.

        Returns None if a path would be broken, or would get a loop that it does not have now.
        """

        def name(node: str) -> str:
            return kept if node == gone else node

        flows = []
        for flow in self.flows:
            path = tuple(node for node, _ in itertools.groupby(map(name, flow.path)))
            if path and (len(path) < 3 or _repeats(path) > _repeats(flow.path)):
                return None
            flows.append(replace(flow, path=path, ack=None if flow.path else flow.ack))
        renamed = [replace(link, a=name(link.a), b=name(link.b)) for link in self.links]
        links: dict[frozenset[str], Link] = {}
        for new in renamed:
            if new.a != new.b:
                links.setdefault(new.ends, new)
        routes = [
            {**entry, "switch": name(entry["switch"]), "next": name(entry["next"])}
            for entry in self.routes
        ]
        before = replace(self, links=tuple(renamed))._with_names(name)
        return replace(
            before,
            switches=tuple(node for node in self.switches if node != gone),
            links=tuple(links.values()),
            flows=tuple(flows),
            routes=tuple(routes),
        )._fitting(before)

    # Numbers

    def lasting(self, duration: int) -> Case | None:
        """Shorten the run [ps]; later flows and faults are removed."""
        flows = [flow for flow in self.flows if flow.start < duration]
        if not flows or duration <= self.run.get("warmup", 0):
            return None
        kept = {flow.number for flow in flows}
        left = self.without([("flow", str(f.number)) for f in self.flows if f.number not in kept])
        return left and replace(left, run={**self.run, "duration": duration})

    def measures(self) -> Counter[str]:
        """Its size."""
        sizes = {
            "hosts": len(self.hosts),
            "switches": len(self.switches),
            "trunks": len(self.trunks),
            "flows": len(self.flows),
            "settings": len(self.settings) + sum(len(getattr(self, n)) for n in ENTRIES.values()),
        }
        return Counter(sizes)


def _without_names(rules: str, gone: Collection[str]) -> str:
    """Rules without the names of nodes that are gone."""
    return with_names(rules, lambda name: "" if name in gone else name)


def _repeats(path: Sequence[str]) -> int:
    """How often a path revisits a node."""
    return len(path) - len(set(path))


def _without_end(path: Sequence[str], host: str) -> Iterable[str]:
    """Remove the switch next to an end of a path."""
    return (path[0], *path[2:]) if path[0] == host else (*path[:-2], path[-1])


def _waiting(flows: Sequence[Flow]) -> tuple[Flow, ...]:
    """Let flows wait only for flows that still exist."""
    numbers = {flow.number for flow in flows}
    return tuple(
        replace(flow, after=tuple(one for one in flow.after if one[0] in numbers)) for flow in flows
    )
