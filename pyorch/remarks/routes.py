"""Flows on fixed paths: links that fail under them, and [[route]] entries that pass them by."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pyorch.errors import UserError
from pyorch.remarks.base import Remark, which
from pyorch.units import format_time

if TYPE_CHECKING:
    from pyorch.config.canonical import Route, Setting
    from pyorch.config.topology import Topology
    from pyorch.config.traffic import Flows
    from pyorch.plan import RunSpec

MOST_SCENES, MOST_FLOWS = 30, 1_000_000
"""How many traffics, and flows, are looked at: of more, nothing is said."""
MOST_NAMES = 3
SWITCH = "ns3::lossless::Switch"
"""Its attributes say when a switch learns of a link."""

Marks = npt.NDArray[np.bool_]
Entry = tuple[str, str, int, int | None]
"""The switch, the neighbour, and the times of a [[route]] entry, whatever its hosts."""


@dataclass(frozen=True)
class Scene:
    """The flows of runs that have them in common."""

    specs: list[RunSpec]
    network: Topology
    flows: Flows

    @property
    def setting(self) -> Setting:
        """The setting of one of the runs."""
        return self.specs[0].setting


def of_routes(specs: Sequence[RunSpec]) -> list[Remark]:
    """Links that fail under fixed paths, and routes that no flow takes in any run."""
    scenes = _scenes(specs)
    return [*_failures(scenes, specs), *_idle(scenes, specs)]


def _scenes(specs: Sequence[RunSpec]) -> list[Scene]:
    """The different flows of the runs with routes or failing links; none if they are too many."""
    from pyorch.config import topology, traffic

    runs: dict[Hashable, list[RunSpec]] = {}
    for spec in specs:
        setting, table = spec.setting, spec.setting.topology
        if setting.routes or table.failures or table.failed_links:
            lists = (tuple(part) for part in (setting.traffic, setting.routes, setting.nodes))
            delays = frozenset(setting.attributes.get(SWITCH, {}).items())
            runs.setdefault((spec.seed, table, setting.run, *lists, delays), []).append(spec)
    found: list[Scene] = []
    if len(runs) > MOST_SCENES:
        return []
    for some in runs.values():
        setting = some[0].setting
        network = topology.build(setting.topology)
        try:
            flows = traffic.flows(setting.traffic, network, some[0].seed, setting.run.duration)
        except UserError:  # said by the run that needs it
            return []
        found.append(Scene(some, network, flows))
        if sum(len(scene.flows) for scene in found) > MOST_FLOWS:
            return []
    return found


def _failures(scenes: Sequence[Scene], specs: Sequence[RunSpec]) -> Iterator[Remark]:
    """Fixed paths over links that go down: their flows are not rerouted."""
    hit: dict[str, list[RunSpec]] = defaultdict(list)
    for scene in scenes:
        for text in _hit(scene):
            hit[text] += scene.specs
    for text, runs in hit.items():
        yield Remark("warning", f"in {which(runs, specs)}: {text}")


def _hit(scene: Scene) -> Iterator[str]:
    """What is said of the links of one scene that are down at the start, and of those that fail."""
    flows, network = scene.flows, scene.network
    over: dict[int, list[int]] = defaultdict(list)
    for flow, path in flows.paths.items():
        for link in {network.links[pair] for pair in itertools.pairwise(path.tolist())}:
            over[link].append(flow)
    for at_start in (True, False):
        hit: set[int] = set()
        links = []
        for link, down, up in network.failures:
            if (down == 0) != at_start:
                continue
            stops = {flow: int(flows.stops[flow]) for flow in over[link]}
            those = {
                flow
                for flow, stop in stops.items()
                if (up < 0 or flows.starts[flow] < up) and not 0 <= stop <= down
            }
            if those:
                hit |= those
                name = ":".join(network.names[int(end[link])] for end in (network.a, network.b))
                until = "" if up < 0 else f" until {format_time(up)}"
                links.append(name if at_start else f"{name} from {format_time(down)}{until}")
        if hit:
            count = f"{len(hit):,} of {len(flows):,} flows"
            text = f"the fixed paths of {count} lead over links that "
            if at_start:
                yield f"{text}are down from the start ({_listed(links)}): they are refused"
            else:
                text += f"go down ({_listed(links)}): they are not rerouted, and what they send "
                allowed = scene.setting.run.allow_loss
                fails = "; in a lossless class that fails the run unless run.allow_loss = true"
                yield f"{text}there is lost{'' if allowed else fails}"


def _idle(scenes: Sequence[Scene], specs: Sequence[RunSpec]) -> Iterator[Remark]:
    """Entries of [[route]] that change nothing in any of the runs that have them."""
    having: dict[Entry, list[Scene]] = defaultdict(list)
    hosts: dict[Entry, dict[str, None]] = defaultdict(dict)
    for scene in scenes:
        for entry, routes in _entries(scene.setting).items():
            having[entry].append(scene)
            hosts[entry] |= dict.fromkeys(route.dst for route in routes)
    for entry, some in having.items():
        reasons = [_why_idle(scene, entry, tuple(hosts[entry])) for scene in some]
        if all(reasons):
            runs = [spec for scene in some for spec in scene.specs]
            what = f"[[route]] of {entry[0]} for {_listed(tuple(hosts[entry]))} has no effect"
            where = "" if len(runs) == len(specs) else f" in {which(runs, specs)}"
            yield Remark("warning", f"{what}{where}: {max(reasons, key=len)}")


def _entries(setting: Setting) -> Mapping[Entry, list[Route]]:
    """The routes of a setting, those of one entry together."""
    found: dict[Entry, list[Route]] = defaultdict(list)
    for route in setting.routes:
        found[route.switch, route.next, route.at, route.until].append(route)
    return found


def _why_idle(scene: Scene, entry: Entry, hosts: Sequence[str]) -> str:
    """Why no flow or answer of a scene takes a route; "" if one may."""
    switch, _, at, until = entry
    network, flows = scene.network, scene.flows
    if scene.setting.topology.failover:  # flows move to other hosts
        return ""
    if at > scene.setting.run.latest_end:
        return f"it begins at {format_time(at)}, after the end of the run"
    whom = _listed(hosts)
    ends = [network.numbers[host] for host in hosts]
    early = np.ones(len(flows), dtype=bool) if until is None else flows.starts < until
    src, dst = flows.ends_on_network(network)
    early &= src != dst
    free, answers = _routed(flows)
    forth, back = early & np.isin(dst, ends), early & answers & np.isin(src, ends)
    begins: dict[int, set[int]] = defaultdict(set)  # by end, the switches where flows to it begin
    for one, other, some in ((src, dst, forth & free), (dst, src, back)):
        for begin, end in zip(one[some].tolist(), other[some].tolist(), strict=True):
            begins[end].add(int(network.racks[begin]))
    if _pass(scene, network.numbers[switch], at, until, begins):
        return ""
    if (forth & free).any():
        return f"no flow to {whom} passes {switch}"
    if forth.any():
        return f"all flows to {whom} have fixed paths, which routes do not change"
    return f"no flow goes to {whom}"


def _pass(
    scene: Scene, switch: int, at: int, until: int | None, begins: Mapping[int, set[int]]
) -> bool:
    """Whether what begins at switches may pass a switch on the way to its end, at these times."""
    from pyorch.dependency import phases

    found = phases(scene.setting, scene.network)
    ends = [when for when, _ in found[1:]]
    for (when, ways), over in itertools.zip_longest(found, ends):
        if (over is not None and over <= at) or (until is not None and when >= until):
            continue
        for end, racks in begins.items():
            passed = list(racks)
            for node in passed:  # grows meanwhile
                passed += [hop for hop in ways.next_hops(node, end) if hop not in passed]
            if switch in passed:
                return True
    return False


def _routed(flows: Flows) -> tuple[Marks, Marks]:
    """Whether the routes decide on the way of each flow, and of its answers; both (flows,) bool."""
    free = np.ones(len(flows), dtype=bool)
    free[list(flows.paths)] = False
    answers = free.copy()
    for flow, reverse in flows.ack_reverse.items():
        answers[flow] = not reverse
    answers[list(flows.ack_paths)] = False
    return free, answers


def _listed(names: Sequence[str]) -> str:
    """The first of several names, and how many more there are."""
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
