"""Ports that cannot be: rates, weights, maps and largest frames that contradict each other.

As the modules refuse them when a run is set up, but before it, with the keys of the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pyorch.base.findings import Findings, Path
from pyorch.base.units import format_bytes, format_rate
from pyorch.network.topology import HOST, Topology
from pyorch.setting.attributes import number, snake_case

_SERVICE, _WEIGHTS, _LEAST, _MOST, _MTU = "ClassService", "Weights", "MinRates", "MaxRates", "Mtu"
_MAPS = ("DscpClasses", "ClassGroups", "ClassQueues", "ClassMarks")
_KEEPING = {"ns3::lossless::EcnMarking", "ns3::pfc::PfcWatchdog"}
"""Agents that leave the class of frames alone; others may apply the maps of ports."""


@dataclass(frozen=True)
class Section:
    """Values of a section [port], for all ports or those of nodes and ports by their names."""

    path: Path
    values: Mapping[str, str]
    names: Sequence[str] | None = None


@dataclass(frozen=True)
class _Port:
    """A port and the sections that are for it, of which the last one to give a value counts."""

    name: str
    rate: int
    is_host: bool
    sections: Sequence[Section]

    def get(self, key: str, otherwise: str = "") -> str:
        return self.sections[self.last(key)].values.get(key, otherwise)

    def path(self, key: str) -> Path:
        return (*self.sections[self.last(key)].path, snake_case(key))

    def last(self, key: str) -> int:
        """Return the number of the section that counts; 0, the file's own, if none has the key."""
        return max((n for n, one in enumerate(self.sections) if key in one.values), default=0)

    def rates(self, key: str) -> dict[int, int]:
        """Return rates by class [bit/s]."""
        pairs = (pair.partition("=") for pair in self.get(key).split(",") if pair)
        return {int(cls): int(number(text)) for cls, _, text in pairs}


@dataclass(frozen=True)
class PortCheck:
    """Checks the ports of a setting. sections: in their order, later ones override earlier ones."""

    network: Topology
    sections: Sequence[Section]
    findings: Findings

    def check(self, agents: Sequence[str], frames: Mapping[tuple[str, str], int]) -> None:
        """Note what is impossible. agents: TypeIds. frames: the largest [B], by their entries."""
        keys = {_WEIGHTS, _LEAST, _MOST, _MTU, *_MAPS}
        if not any(keys & one.values.keys() for one in self.sections):
            return
        alike = {
            (port.rate, port.is_host, *map(id, port.sections)): port
            for port in reversed(self._ports)
        }
        told: set[Path] = set()
        self._check_hosts()
        for port in sorted(alike.values(), key=lambda port: port.rate):
            for path, what, allowed in (*_service(port), *_maps(port, agents)):
                if path not in told:
                    self.findings.add(path, what, allowed)
                told.add(path)
        if any(_MTU in one.values for one in self.sections):
            self._check_ends()
            self._check_frames(frames)

    @cached_property
    def _ports(self) -> Sequence[_Port]:
        """All ports: of every link one end, then of every link the other."""
        network = self.network
        nodes, neighbours = (side.tolist() for side in network.ports)
        places = {port: at for at, port in enumerate(zip(nodes, neighbours, strict=True))}
        of_node: dict[int, list[int]] = {}
        for at, node in enumerate(nodes):
            of_node.setdefault(node, []).append(at)
        own: list[list[Section]] = [[] for _ in nodes]
        for section in self.sections:
            meant = range(len(nodes)) if section.names is None else list[int]()
            for name in section.names or ():
                node, _, neighbour = name.partition(":")
                port = network.port(node, neighbour) if neighbour else None
                meant = [*meant, *([places[port]] if port else of_node[network.numbers[node]])]
            for at in meant:
                own[at].append(section)
        names, ends = network.names, network.end_names
        return [
            _Port(f"{names[node]}:{ends[neighbour]}", rate, network.kinds[node] == HOST, sections)
            for node, neighbour, rate, sections in zip(
                nodes, neighbours, np.tile(network.rates, 2).tolist(), own, strict=True
            )
        ]

    def _check_hosts(self) -> None:
        """Hosts have no maps."""
        network = self.network
        for section in self.sections[1:]:
            names = [name.partition(":")[0] for name in section.names or ()]
            for key in [key for key in _MAPS if key in section.values]:
                if all(network.kinds[network.numbers[name]] == HOST for name in names):
                    what = f"hosts have no maps, and {names[0]} is one"
                    self.findings.add((*section.path, snake_case(key)), what, "ports of switches")

    def _check_ends(self) -> None:
        """Both ends of a link need the same Mtu."""
        half = len(self._ports) // 2
        for pair in zip(self._ports[:half], self._ports[half:], strict=True):
            there, here = sorted(pair, key=lambda port: port.last(_MTU))
            sizes = [_mtu(port) for port in (here, there)]
            if sizes[0] != sizes[1]:
                said = [format_bytes(size) if size else "any" for size in sizes]
                what = f"{said[0]} at {here.name}, but {said[1]} at {there.name}"
                hint = f'name both: names = ["{here.name}", "{there.name}"]'
                self.findings.add(here.path(_MTU), what, "the same at both ends of a link", hint)
                return

    def _check_frames(self, frames: Mapping[tuple[str, str], int]) -> None:
        """Frames must fit between switches, and some hosts must take them."""
        by_host: dict[bool, list[_Port]] = {True: [], False: []}
        half = len(self._ports) // 2
        for pair in zip(self._ports[:half], self._ports[half:], strict=True):
            by_host[any(port.is_host for port in pair)].append(pair[0])
        limits = [port for port in by_host[False] if _mtu(port)]
        found = [min(limits, key=_mtu)] if limits else []
        if by_host[True] and all(map(_mtu, by_host[True])):
            found.append(max(by_host[True], key=_mtu))
        for port in sorted(found, key=_mtu)[:1]:
            for path, size in frames.items():
                if size > _mtu(port):
                    what = f"frames of {size} B, but {port.name} takes {format_bytes(_mtu(port))}"
                    hint = f"lower payload_size, or raise {'.'.join(port.path(_MTU))}"
                    self.findings.add(path, what, f"frames of at most {_mtu(port)} B", hint)


def _mtu(port: _Port) -> int:
    return int(number(port.get(_MTU, "0")))


def _service(port: _Port) -> Iterator[tuple[Path, str, str]]:
    """Weights that nobody obeys, and rates that contradict each other or the link."""
    service = port.get(_SERVICE, "Strict")
    if port.get(_WEIGHTS) and service != "Dwrr":
        what = f"{port.name} has weights, but serves its classes by {service.lower()!r}"
        yield port.path(_WEIGHTS), what, 'class_service = "dwrr"'
    least, most = port.rates(_LEAST), port.rates(_MOST)
    for cls in [cls for cls in least if least[cls] > most.get(cls, least[cls])]:
        top = format_rate(most[cls])
        what = (
            f"{format_rate(least[cls])} of class {cls} is above its maximum at {port.name}, {top}"
        )
        yield port.path(_LEAST), what, f"at most {top}"
    if (together := sum(least.values())) > port.rate:
        rate = format_rate(port.rate)
        what = f"{format_rate(together)} together, but the link of {port.name} has {rate}"
        yield port.path(_LEAST), what, f"at most {rate} together"


def _maps(port: _Port, agents: Sequence[str]) -> Iterator[tuple[Path, str, str]]:
    """Maps of classes that nothing applies."""
    if not port.is_host and _KEEPING.issuperset(agents):
        for key in filter(port.get, _MAPS):
            yield port.path(key), f"nothing applies the map at {port.name}", 'agents = ["tagger"]'
