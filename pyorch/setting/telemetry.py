"""Whether frames have room for the telemetry of all switches on the paths of a run's flows."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pyorch.base.errors import UserError
from pyorch.base.findings import Findings
from pyorch.network import topology
from pyorch.network.cycles import ShortestPaths
from pyorch.network.failing import draw_failed_links
from pyorch.network.topology import SWITCH, Topology
from pyorch.setting.attributes import Catalogue, number, section_of
from pyorch.setting.canonical import Setting
from pyorch.traffic import base as traffic
from pyorch.traffic.base import Flows

MOST_SWITCHES = 15
"""Number of switches for whose telemetry a frame can have room."""
MOST_SEEDS, MOST_FLOWS, FEW_FLOWS = 20, 200_000, 5_000
"""Maximum number of seeds and flows of a setting that are examined; beyond, the run itself refuses.
FEW_FLOWS where only fixed paths can be too long."""
KEY = ("queue_pair", "telemetry_hops")

Marks = npt.NDArray[np.bool_]


class LongestPath(NamedTuple):
    """The number of switches on a path, and the hosts at its ends; 0 switches: there is none."""

    switches: int
    src: int
    dst: int

    def text(self, network: Topology) -> str:
        """Return the path in words."""
        ends = " to ".join(network.names[network.far(end)] for end in (self.src, self.dst))
        return f"the path from {ends} passes {self.switches} switches"


def room_of(setting: Setting, types: Catalogue) -> int | None:
    """For how many switches a run's frames have room; None: they carry no telemetry."""
    control = types.by_name.get(setting.congestion_control)
    frames = section_of(types, setting.attributes, KEY[0]) or {}
    if control is None or not control.telemetry or "TelemetryHops" not in frames:
        return None
    return int(number(frames["TelemetryHops"]))


def longest_path(
    network: Topology, flows: Flows, paths: ShortestPaths, among: Marks | None = None
) -> LongestPath:
    """Return the longest path of some flows, by default of all, at a time without [[route]]s.

    among: (flows,). Flows between switches that are not connected have none.
    """
    some = np.ones(len(flows), dtype=bool) if among is None else among.copy()
    fixed = [path for flow, path in flows.paths.items() if some[flow]]
    found = [LongestPath(len(path) - 2, int(path[0]), int(path[-1])) for path in fixed]
    some[list(flows.paths)] = False
    src, dst = flows.ends_on_network(network)
    some &= (src != dst) & (network.kinds[network.racks[src]] == SWITCH)
    src, dst = src[some], dst[some]
    begin, end = (np.searchsorted(paths.switches, network.racks[ends]) for ends in (src, dst))
    switches = 1 + paths.distance[begin, end].astype(np.int64)
    switches[switches > len(paths.switches)] = 0
    if len(switches):
        at = int(switches.argmax())
        found.append(LongestPath(int(switches[at]), int(src[at]), int(dst[at])))
    return max(found, default=LongestPath(0, 0, 0))


@dataclass
class RoomCheck:
    """Checks the settings of an experiment; keeps what they share."""

    types: Catalogue
    seeds: Sequence[int]
    _longest: dict[Hashable, tuple[Topology, LongestPath]] = field(default_factory=dict)
    _paths: dict[int, tuple[Topology, ShortestPaths]] = field(default_factory=dict)

    def check(self, setting: Setting, network: Topology, findings: Findings) -> None:
        """Refuse a setting of which a flow's path is too long at the start.

        Settings with [[route]] entries and those with very many flows are left to the run.
        """
        room = room_of(setting, self.types)
        if room is None or setting.routes or (network.kinds == SWITCH).sum() <= room:
            return
        for seed in self.seeds[:MOST_SEEDS]:
            key = room, seed, setting.topology, (*setting.traffic,), setting.run.duration
            if key not in self._longest:
                drawn = _drawn(setting, network, seed)
                self._longest[key] = drawn, self._search(setting, drawn, seed, room)
            drawn, longest = self._longest[key]
            if longest.switches > room:
                what = f"{longest.text(drawn)}, but frames have room for the telemetry of {room}"
                _refuse(longest.switches, what, findings)
                return

    def _search(self, setting: Setting, network: Topology, seed: int, room: int) -> LongestPath:
        """Return the longest path of a seed's flows, unless there are too many."""
        if id(network) not in self._paths:
            self._paths[id(network)] = network, ShortestPaths.of(network)
        paths = self._paths[id(network)][1]
        between = paths.distance[np.ix_(paths.edges, paths.edges)]
        apart = 1 + int(between[between < len(paths.switches)].max(initial=0))
        duration = setting.run.duration
        try:
            count = sum(one.count(network, duration) for one in setting.traffic)
            if count > (MOST_FLOWS if apart > room else FEW_FLOWS):
                return LongestPath(0, 0, 0)
            flows = traffic.flows(setting.traffic, network, seed, duration)
        except UserError:  # reported by the run that needs it
            return LongestPath(0, 0, 0)
        return longest_path(network, flows, paths)


def _drawn(setting: Setting, network: Topology, seed: int) -> Topology:
    """Return the network of a seed."""
    if not setting.topology.random_failed_links:
        return network
    return topology.build(draw_failed_links(setting.topology, seed))


def _refuse(switches: int, what: str, findings: Findings) -> None:
    if switches <= MOST_SWITCHES:
        allowed, hint = f"{switches} to {MOST_SWITCHES}", f"set {'.'.join(KEY)} = {switches}"
        findings.add(KEY, what, allowed, f"{hint}, or shorten the path")
    else:
        hint = "shorten the path, or choose a congestion control without telemetry"
        findings.add(KEY, what, f"paths of at most {MOST_SWITCHES} switches", hint)
