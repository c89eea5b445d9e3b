"""Classes on their way: maps of ports, rules of the tagger, and whether cycles are lossless."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter

from pyorch.network.cycles import Egress
from pyorch.network.topology import Topology
from pyorch.setting.attributes import DEFAULTS, number
from pyorch.setting.canonical import Attributes, Setting

TAGGER, _RULES = "ns3::pfc::Tagger", "Rules"
_PORT, _QUEUE_PAIR = "ns3::lossless::Port", "ns3::rdma::QueuePair"
_MAPS = ("DscpClasses", "ClassGroups", "ClassQueues", "ClassMarks")
_CHANGE = re.compile(r"([0-7])\s*=\s*([0-7])")
_LOSSLESS, _DEFAULT = "LosslessClasses", "8"
_N_CLASSES, _N_DSCPS = 8, 64

_Sent = tuple[int, int]
"""Class on the wire and code point of frames."""


def lossless_classes(setting: Setting) -> int:
    """The lossless classes of a run as a bit mask, of all its switches together."""
    kinds = (setting.buffer_policy, DEFAULTS["buffer_policy"])
    given = [setting.attributes.get(kind, {}).get(_LOSSLESS) for kind in kinds]
    masks = [next(filter(None, given), _DEFAULT)]
    of_nodes = [one for node in setting.nodes for one in node.attributes.values()]
    mask = 0
    for text in [*masks, *(one[_LOSSLESS] for one in of_nodes if _LOSSLESS in one)]:
        mask |= int(number(text))
    return mask


def has_rules(setting: Setting) -> bool:
    """Whether the tagger is among the agents of a run."""
    return TAGGER in setting.agents


@dataclass(frozen=True)
class _Maps:
    """The maps of a port, as texts: see the attributes of Port."""

    texts: tuple[str, ...] = ("", "", "", "")

    @cached_property
    def _tables(self) -> tuple[dict[int, int], ...]:
        pairs = ((pair.partition("=") for pair in text.split(",") if pair) for text in self.texts)
        return tuple({int(key): int(value) for key, _, value in one} for one in pairs)

    def enter(self, cls: int, dscp: int) -> tuple[int, int]:
        """Return class and group of a frame that arrives, in a class on the wire."""
        classes, groups = self._tables[:2]
        own = classes.get(dscp, dscp // 8) if classes else cls
        return own, groups.get(own, own)

    def leave(self, cls: int, dscp: int) -> tuple[int, int]:
        """Return queue and code point of a frame that leaves in a class."""
        queues, marks = self._tables[2:]
        return queues.get(cls, cls), marks.get(cls, dscp)


@dataclass(frozen=True)
class Hop:
    """What a switch makes of a frame: where it is charged, and where it waits."""

    group: int
    queue: int
    dscp: int


@dataclass(frozen=True)
class ClassWays:
    """What becomes of the classes of a run's frames, by port."""

    setting: Setting
    network: Topology

    @cached_property
    def maps(self) -> Mapping[Egress, _Maps]:
        """The maps of the ports that have some, by (node, neighbour)."""
        network, found = self.network, dict[Egress, dict[str, str]]()
        entries: list[tuple[Sequence[str], Attributes]] = []
        if has_rules(self.setting):
            entries.append((network.names, self.setting.attributes))
        entries += [(node.nodes, node.attributes) for node in self.setting.nodes if entries]
        for names, attributes in entries:
            own = attributes.get(_PORT, {})
            given = {name: own[name] for name in _MAPS if name in own}
            for name in names if given else ():
                node, _, neighbour = name.partition(":")
                port = network.port(node, neighbour) if neighbour else None
                ports = [port] if port else self._ports.get(network.numbers[node], [])
                for one in ports:
                    found[one] = found.get(one, {}) | given
        return {
            port: _Maps(tuple(texts.get(name, "") for name in _MAPS))
            for port, texts in found.items()
        }

    @cached_property
    def _ports(self) -> Mapping[int, list[Egress]]:
        """The ports of each switch, as (node, neighbour)."""
        found: dict[int, list[Egress]] = defaultdict(list)
        ends = self.network.ports
        for node, neighbour in zip(*(side.tolist() for side in ends), strict=True):
            if not self.network.is_host(self.network.names[node]):
                found[node].append((node, neighbour))
        return found

    @cached_property
    def _changes(self) -> Mapping[tuple[int, int, int], Mapping[int, int]]:
        """The classes that rules change, old -> new, by previous node, switch and next node."""
        found: dict[tuple[int, int, int], dict[int, int]] = defaultdict(dict)
        numbers, setting = self.network.numbers, self.setting
        rules = dict.fromkeys(
            self.network.names, setting.attributes.get(TAGGER, {}).get(_RULES, "")
        )
        for entry in setting.nodes:
            if (text := entry.attributes.get(TAGGER, {}).get(_RULES)) is not None:
                rules |= dict.fromkeys(entry.nodes, text)
        for name, text in rules.items() if has_rules(setting) else ():
            for rule in text.split(";"):  # the module refuses those of another form
                ends, _, classes = rule.partition(":")
                sides = [
                    [numbers[n] for n in side.split() if n in numbers] for side in ends.split(">")
                ]
                changes = {int(old): int(new) for old, new in _CHANGE.findall(classes)}
                for a, b in itertools.product(sides[0], sides[-1]):
                    found[a, numbers[name], b] |= changes
        return found

    def starts(self, used: Iterable[int]) -> set[_Sent]:
        """Return what hosts send. used: the classes."""
        own = int(number(self.setting.attributes.get(_QUEUE_PAIR, {}).get("Dscp", str(_N_DSCPS))))
        classes = set(used)
        found = {
            (cls, _marked(cls, own if entry.dscp is None else entry.dscp))
            for entry in self.setting.traffic
            for cls in entry.classes() & classes
        }
        others = classes.difference(cls for cls, _ in found)
        return found | {(cls, _marked(cls, own)) for cls in others}

    def hop(self, cls: int, dscp: int, ingress: Egress, egress: Egress) -> Hop:
        """Return what a switch makes of a frame.

        cls: on the wire. ingress, egress: its ports, as (switch, neighbour). `Charge` Old is meant.
        """
        none = _Maps()
        own, group = self.maps.get(ingress, none).enter(cls, dscp)
        turn = (self.network.far(ingress[1]), egress[0], self.network.far(egress[1]))
        new = self._changes.get(turn, {}).get(own, own)
        queue, mark = self.maps.get(egress, none).leave(new, dscp if new == own else 8 * new)
        return Hop(group, queue, mark)

    def first(self, used: Iterable[int], egress: Egress) -> set[_Sent]:
        """Return what a switch's port may send of frames that come from hosts at any port."""
        maps, none = self.maps, _Maps()
        ingresses = {maps.get(port, none) for port in self._ports[egress[0]]} if maps else {none}
        leave = maps.get(egress, none).leave
        return {
            leave(one.enter(cls, dscp)[0], dscp)
            for one in ingresses
            for cls, dscp in self.starts(used)
        }

    def strange(self, used: Iterable[int], lossless: int) -> Iterator[tuple[Egress, int, int]]:
        """Yield ports at which a pause names another queue than that in which frames came.

        With that queue and the group to which they are charged, one of them lossless.
        """
        starts, ports = self.starts(used), self._ports
        for node in ports if self.maps else ():
            for ingress in ports[node]:
                before = self.network.reverse(ingress)
                for cls, dscp in self._sent(starts, before):
                    group = self.maps.get(ingress, _Maps()).enter(cls, dscp)[1]
                    if group != cls and (lossless >> group | lossless >> cls) & 1:
                        yield ingress, cls, group

    def _sent(self, starts: set[_Sent], egress: Egress) -> list[_Sent]:
        """Return what a port may send of frames that come to its node as hosts send them."""
        ingresses = self._ports.get(egress[0])
        if ingresses is None:  # a host
            return sorted(starts)
        hops = [
            self.hop(cls, dscp, ingress, egress)
            for ingress in ingresses
            if ingress != egress
            for cls, dscp in starts
        ]
        return sorted({(hop.queue, hop.dscp) for hop in hops})


def _marked(cls: int, dscp: int) -> int:
    return 8 * cls if dscp == _N_DSCPS else dscp


def is_lossless_cycle(
    setting: Setting,
    network: Topology,
    turns: Iterable[tuple[Egress, Egress]],
    used: Iterable[int],
) -> bool:
    """Whether turns, which form a cycle, may form one within lossless classes.

    used: the classes in which frames start, at any egress: if not, no deadlock is possible, but
    rules that hold only for where frames really start are not recognised. A frame that changes
    class waits in the new one, and is charged to the old one until it has been sent.
    """
    lossless = lossless_classes(setting)
    used = list(used)
    if not has_rules(setting):
        return any(lossless >> cls & 1 for cls in used)
    ways = ClassWays(setting, network)
    after: dict[Egress, list[Egress]] = defaultdict(list)
    for before, then in turns:
        after[before].append(then)
    waiting = [(egress, *sent) for egress in after for sent in ways.first(used, egress)]
    seen: set[tuple[Egress, int, int]] = set()
    graph: dict[tuple[Egress, int], set[tuple[Egress, int]]] = defaultdict(set)
    while waiting:
        state = waiting.pop()
        if state in seen:
            continue
        seen.add(state)
        egress, queue, dscp = state
        for then in after.get(egress, ()):
            hop = ways.hop(queue, dscp, network.reverse(egress), then)
            if lossless >> hop.group & 1 and lossless >> hop.queue & 1:
                graph[egress, hop.group].add((then, hop.queue))
            waiting.append((then, hop.queue, hop.dscp))
    try:
        TopologicalSorter(graph).prepare()
    except CycleError:
        return True
    return False
