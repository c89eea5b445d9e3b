"""Flows on fixed paths: failing links on these paths, and [[route]] entries without effect."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from pyorch.base.errors import UserError
from pyorch.base.units import format_time
from pyorch.remarks.base import Remark, which

if TYPE_CHECKING:
    from pyorch.network.topology import Topology
    from pyorch.plan import RunSpec
    from pyorch.setting.canonical import Route, Setting
    from pyorch.setting.dependency import Ways
    from pyorch.traffic.base import Flows

MOST_SCENES, MOST_FLOWS = 30, 1_000_000
"""Maximum number of different traffics, and of flows, that are examined; above, no remarks."""
MOST_NAMES = 3
SWITCH = "ns3::lossless::Switch"
"""The type whose attributes say when a switch learns of a link."""

Marks = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int64]
FREE, FIXED, ANSWER = range(3)
"""Kinds of legs: a flow that follows routes, one on a fixed path, an answer that follows routes."""
Entry = tuple[str, str, int, int | None]
"""The switch, the neighbour and the times of a [[route]] entry, without its hosts."""


class Legs(NamedTuple):
    """The traffic to a host, equal legs once, all (legs,): kind, first switch, earliest start."""

    kinds: Numbers
    begins: Numbers
    starts: Numbers


class Arrivals(NamedTuple):
    """The traffic to a host before some time: its kinds, and the first switches of routed legs."""

    kinds: frozenset[int]
    begins: frozenset[int]


@dataclass(frozen=True)
class Scene:
    """The flows that some runs share. An experiment may have thousands of routes."""

    specs: list[RunSpec]
    network: Topology
    flows: Flows
    _arrivals: dict[tuple[int, int | None], Arrivals] = field(default_factory=dict)
    _passed: dict[tuple[int, int, frozenset[int]], frozenset[int]] = field(default_factory=dict)

    @property
    def setting(self) -> Setting:
        """The setting of one of the runs."""
        return self.specs[0].setting

    @cached_property
    def phases(self) -> list[tuple[int, Ways]]:
        """The paths at the start and after each change, with the time [ps] of each."""
        from pyorch.setting.dependency import phases

        return phases(self.setting, self.network)

    @cached_property
    def legs(self) -> Mapping[int, Legs]:
        """The traffic to each host, by the host's number."""
        flows, racks = self.flows, self.network.racks.astype(np.int64)
        src, dst = (ends.astype(np.int64) for ends in flows.ends_on_network(self.network))
        starts = flows.starts.astype(np.int64)
        free, answers = _routed(flows)
        kinds = ((FREE, src, dst, free), (FIXED, src, dst, ~free), (ANSWER, dst, src, answers))
        parts = []
        for kind, one, other, routed in kinds:
            some = routed & (src != dst)
            columns = (other[some], np.full(some.sum(), kind), racks[one[some]], starts[some])
            parts.append(np.stack(columns))
        rows = np.concatenate(parts, axis=1)
        rows = rows[:, np.lexsort(rows[::-1])]
        alike = np.diff(rows[:3], axis=1, prepend=-1).any(axis=0)  # the first of each is earliest
        rows = rows[:, alike]
        ends, places = np.unique(rows[0], return_index=True)
        legs = (Legs(*part[1:]) for part in np.split(rows, places, axis=1)[1:])
        return dict(zip(ends.tolist(), legs, strict=True))

    def arrivals(self, end: int, until: int | None) -> Arrivals:
        """The traffic to a host that starts before a time [ps]."""
        if (end, until) not in self._arrivals:
            nothing = np.zeros(0, dtype=np.int64)
            kinds, begins, starts = self.legs.get(end, Legs(nothing, nothing, nothing))
            early = np.ones(len(starts), dtype=bool) if until is None else starts < until
            led = begins[early & (kinds != FIXED)]
            found = Arrivals(frozenset(kinds[early].tolist()), frozenset(led.tolist()))
            self._arrivals[end, until] = found
        return self._arrivals[end, until]

    def passed(self, phase: int, end: int, begins: frozenset[int]) -> frozenset[int]:
        """The switches on the paths from some switches to a host in a phase."""
        if (phase, end, begins) not in self._passed:
            ways = self.phases[phase][1]
            found = dict.fromkeys(begins)
            waiting = list(begins)
            for node in waiting:  # grows during the loop
                hops = map(self.network.far, ways.next_hops(node, end))
                new = [hop for hop in dict.fromkeys(hops) if hop not in found]
                found |= dict.fromkeys(new)
                waiting += new
            self._passed[phase, end, begins] = frozenset(found)
        return self._passed[phase, end, begins]


def of_routes(scenes: Sequence[Scene], specs: Sequence[RunSpec]) -> list[Remark]:
    """Links that fail under fixed paths, and routes that no flow takes in any run."""
    return [*_failures(scenes, specs), *_replaced(scenes), *_idle(scenes, specs)]


def scenes_of(specs: Sequence[RunSpec]) -> list[Scene]:
    """The different flows of the runs with routes or failing links; none if they are too many."""
    from pyorch.network import topology
    from pyorch.traffic import base as traffic

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
        except UserError:  # reported by the run that needs it
            return []
        found.append(Scene(some, network, flows))
        if sum(len(scene.flows) for scene in found) > MOST_FLOWS:
            return []
    return found


def _failures(scenes: Sequence[Scene], specs: Sequence[RunSpec]) -> Iterator[Remark]:
    """Fixed paths over links that go down: their flows are not rerouted."""
    hit: dict[bool, dict[str, list[RunSpec]]] = {True: defaultdict(list), False: defaultdict(list)}
    for scene in scenes:
        for at_start, text in _hit(scene):
            hit[at_start][text] += scene.specs
    for texts in hit.values():
        if len(texts) > MOST_NAMES:
            text, some = next(iter(texts.items()))
            every = which([spec for runs in texts.values() for spec in runs], specs)
            what = f"in {every}, with different links, for instance in {which(some, specs)}: {text}"
            yield Remark("warning", what)
        else:
            for text, runs in texts.items():
                yield Remark("warning", f"in {which(runs, specs)}: {text}")


def _hit(scene: Scene) -> Iterator[tuple[bool, str]]:
    """Remarks on fixed paths of one scene over links that are down or that fail.

    Each with whether its links are down from the start.
    """
    flows, network = scene.flows, scene.network
    over: dict[int, list[int]] = defaultdict(list)
    for flow, path in flows.paths.items():
        for link in {network.links[port] for port in network.egresses(path.tolist())}:
            over[link].append(flow)
    for at_start in (True, False):
        hit: set[int] = set()
        links = []
        for link, down, up in network.failures:
            if (down == 0) != at_start or down >= scene.setting.run.latest_end:
                continue
            stops = {flow: int(flows.stops[flow]) for flow in over[link]}
            those = {
                flow
                for flow, stop in stops.items()
                if (up < 0 or flows.starts[flow] < up) and not 0 <= stop <= down
            }
            if those:
                hit |= those
                name = ":".join(network.ends_of(link))
                until = "" if up < 0 else f" until {format_time(up)}"
                links.append(name if at_start else f"{name} from {format_time(down)}{until}")
        if hit:
            count = f"{len(hit):,} of {len(flows):,} flows"
            text = f"the fixed paths of {count} lead over links that "
            if at_start:
                yield True, f"{text}are down from the start ({_listed(links)}): they are refused"
            else:
                text += f"go down ({_listed(links)}): they are not rerouted, and frames sent "
                allowed = scene.setting.run.allow_loss
                fails = "; in a lossless class, this fails the run unless run.allow_loss = true"
                yield False, f"{text}there are lost{'' if allowed else fails}"


def _replaced(scenes: Sequence[Scene]) -> Iterator[Remark]:
    """Routes in place of which a later entry of the same time leads elsewhere, in all runs."""
    lost: list[set[Route]] = []
    for scene in scenes:
        last: dict[tuple[str, str, int, int | None], Route] = {}
        gone = set()
        for route in scene.setting.routes:
            at = route.switch, route.dst, route.at, route.until
            if at in last and last[at].next != route.next:
                gone.add(last[at])
            last[at] = route
        lost.append(gone)
    always = set.intersection(*lost) if lost else set()
    first = next((one for scene in scenes for one in scene.setting.routes if one in always), None)
    if first:
        what = f"{len(always)} routes of [[route]] have no effect, as later entries replace them: "
        what += f"frames for {first.dst} do not go from {first.switch} to {first.next}"
        why = "; included entries come first: delete the entries of the file itself that differ"
        yield Remark("warning", what + why)


def _idle(scenes: Sequence[Scene], specs: Sequence[RunSpec]) -> Iterator[Remark]:
    """Entries of [[route]] that change nothing in any of the runs that have them."""
    having: dict[Entry, list[Scene]] = defaultdict(list)
    hosts: dict[Entry, dict[str, None]] = defaultdict(dict)
    for scene in scenes:
        for entry, routes in _entries(scene.setting).items():
            having[entry].append(scene)
            hosts[entry] |= dict.fromkeys(route.dst for route in routes)
    idle: list[tuple[Entry, str]] = []
    for entry, some in having.items():
        reasons: list[str] = []
        for scene in some:
            reasons.append(_why_idle(scene, entry, tuple(hosts[entry])))
            if not reasons[-1]:
                break
        else:
            idle.append((entry, max(reasons, key=len)))
    if len(idle) > MOST_NAMES:
        entry, reason = idle[0]
        what = f"{len(idle):,} of {len(having):,} [[route]] entries have no effect in any run"
        whose = f"that of {entry[0]} for {_listed(tuple(hosts[entry]))}"
        yield Remark("warning", f"{what}, such as {whose}: {reason}")
        return
    for entry, reason in idle:
        runs = [spec for scene in having[entry] for spec in scene.specs]
        what = f"[[route]] of {entry[0]} for {_listed(tuple(hosts[entry]))} has no effect"
        where = "" if len(runs) == len(specs) else f" in {which(runs, specs)}"
        yield Remark("warning", f"{what}{where}: {reason}")


def _entries(setting: Setting) -> Mapping[Entry, list[Route]]:
    """The routes of a setting, grouped by entry."""
    found: dict[Entry, list[Route]] = defaultdict(list)
    for route in setting.routes:
        found[route.switch, route.next, route.at, route.until].append(route)
    return found


def _why_idle(scene: Scene, entry: Entry, hosts: Sequence[str]) -> str:
    """Why no flow or answer of a scene takes a route; "" if one may."""
    switch, _, at, until = entry
    network = scene.network
    if scene.setting.topology.failover or network.several:  # flows move
        return ""
    if at > scene.setting.run.latest_end:
        return f"it begins at {format_time(at)}, after the end of the run"
    whom = _listed(hosts)
    ends = [network.numbers[host] for host in hosts]
    if any(_pass(scene, network.numbers[switch], at, until, end) for end in ends):
        return ""
    kinds = frozenset[int]().union(*(scene.arrivals(end, until).kinds for end in ends))
    if FREE in kinds:
        return f"no flow to {whom} passes {switch}"
    if FIXED in kinds:
        return f"all flows to {whom} have fixed paths, which routes do not change"
    return f"no flow goes to {whom}"


def _pass(scene: Scene, switch: int, at: int, until: int | None, end: int) -> bool:
    """Whether traffic that routes lead to a host may pass a switch at these times."""
    begins = scene.arrivals(end, until).begins
    times = [when for when, _ in scene.phases]
    for phase, (when, over) in enumerate(itertools.zip_longest(times, times[1:])):
        if (over is not None and over <= at) or (until is not None and when >= until):
            continue
        if begins and switch in scene.passed(phase, end, begins):
            return True
    return False


def _routed(flows: Flows) -> tuple[Marks, Marks]:
    """Whether routes decide the path of each flow, and of its answers; both (flows,) bool."""
    free = np.ones(len(flows), dtype=bool)
    free[list(flows.paths)] = False
    answers = free.copy()
    for flow, reverse in flows.ack_reverse.items():
        answers[flow] = not reverse
    answers[list(flows.ack_paths)] = False
    return free, answers


def _listed(names: Sequence[str]) -> str:
    """The first of several names, and the number of the others."""
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
