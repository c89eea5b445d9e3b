"""Cures for a deadlock: the same run, from the same seed, with a change.

Three kinds: an addition to the run's own scheme; other routes; another scheme, tuned by its rule.
The schemes are those of the bake-off, each in its own file, and those of modules that join
comparisons: a scheme added to either becomes a cure.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pyorch.addons.lab.cuts import Judged, entries_without, fewest_links, fewest_turns, name_of_turn
from pyorch.addons.lab.drive import refuse_bundles, route_tables
from pyorch.addons.lab.explicit import LISTS, case_of, tables_of, tables_of_run
from pyorch.addons.lab.rules import AGENT as TAGGER
from pyorch.addons.lab.tags import tags_of
from pyorch.addons.lab.updown import UpDown
from pyorch.base.errors import UserError
from pyorch.base.findings import Findings, Path
from pyorch.base.paths import Paths
from pyorch.base.units import format_bytes, format_time
from pyorch.explain.outcomes import ADDED, AS_IT_WAS, GROUPS, SCHEMES, WAYS, Content, Cure
from pyorch.files.patch import put
from pyorch.files.schemes import environment
from pyorch.files.variants import FILES, MODULES, Variant, read_variants
from pyorch.network import topology
from pyorch.network.cycles import ShortestPaths
from pyorch.network.topology import Topology
from pyorch.plan import RunSpec
from pyorch.setting.attributes import DEFAULTS, Catalogue, number, section_of
from pyorch.setting.telemetry import MOST_SWITCHES
from pyorch.traffic import base as traffic

WATCHDOG = "pfc-watchdog"
OF_WATCHDOG = ("poll", "detection", "restoration")
SONIC = 200_000_000_000
"""The default waiting time of SONiC's watchdog [ps]."""
SHARE = 10
"""In a run too short for SONiC's default the watchdog waits for 1/SHARE of the run."""
REPEAT = {"retransmit": "go_back_n", "timeout": "1ms"}
"""Set if senders do not retransmit, because cures may drop frames; as in the bake-off."""
FILES_OF_SCHEMES = ["schemes/*.toml", "schemes/combined/*.toml"]
"""Relative to the folder of the package's own experiments."""


def cures_of(spec: RunSpec, types: Catalogue, paths: Paths) -> list[Cure]:
    """Return the original run, continued to its end, and the run with each cure."""
    base = base_of(spec, types)
    network = topology.build(spec.setting.topology)
    buffer = section_of(types, spec.setting.attributes, "buffer") or {}
    size = format_bytes(int(number(buffer.get("Size", "0"))))
    schemes = list(_schemes(base, network, size, paths))
    frames = section_of(types, spec.setting.attributes, "queue_pair") or {}
    switches = _most_switches(spec, network)
    if switches > int(number(frames.get("TelemetryHops", "0"))):
        schemes = [_with_room(cure, switches, types) for cure in schemes]
    added = [_watchdog(base, spec.setting.run.latest_end), _tagger(spec, types, base)]
    cures = [*added, *_ways(spec, types, base), *schemes]
    ordered = [cure for group in GROUPS for cure in cures if cure.group == group]
    return [Cure(AS_IT_WAS, "", "nothing is changed", base), *ordered]


def base_of(spec: RunSpec, types: Catalogue) -> Content:
    """The tables of the run that continues after a deadlock and records only flows."""
    base = {key: value for key, value in tables_of_run(spec, types).items() if key != "trace"}
    run = {key: value for key, value in base["run"].items() if key != "stop_on_deadlock"}
    return {**base, "run": run}


def _changed(base: Content, changes: Sequence[tuple[Path, Any]]) -> Content:
    """Tables with changes; frames may be lost, and are then retransmitted."""
    content = copy.deepcopy(base)
    for path, value in changes:
        put(content, path, value)
    put(content, ("run", "allow_loss"), True)
    if str(content.get("queue_pair", {}).get("retransmit", "")).lower() == "none":
        content["queue_pair"] = {**content["queue_pair"], **REPEAT}
    return content


def _watchdog(base: Content, end: int) -> Cure:
    wait = format_time(min(SONIC, end // SHARE))
    about = f"drops the frames of a queue paused for {wait}; SONiC's default is {SONIC // 10**9} ms"
    if "pfc" not in base.get("flow_control", []):
        return Cure(WATCHDOG, ADDED, about, None, "it watches PFC, which this run does not use")
    if WATCHDOG in base.get("agents", []):
        return Cure(WATCHDOG, ADDED, about, None, "the run already has it")
    changes: list[tuple[Path, Any]] = [(("agents",), [*base.get("agents", []), WATCHDOG])]
    changes += [((WATCHDOG, key), wait) for key in OF_WATCHDOG]
    return Cure(WATCHDOG, ADDED, about, _changed(base, changes))


def _tagger(spec: RunSpec, types: Catalogue, base: Content) -> Cure:
    """More lossless classes: a frame takes the next one where its path turns up again."""
    about = "frames take the next lossless class where they turn up again"
    try:
        tags = tags_of(spec, types)
    except UserError as error:
        return Cure(TAGGER, ADDED, about, None, error.problems[0].what)
    about += f"; {len(tags.classes)} classes, each with its own headroom at every port"
    if len(tags.classes) == 1:
        return Cure(TAGGER, ADDED, about, None, "no path of this run turns up again")
    nodes = [*base.get("node", []), *tags.nodes]
    agents = list(dict.fromkeys([*base.get("agents", []), TAGGER]))
    changes: list[tuple[Path, Any]] = [(("agents",), agents), (("node",), nodes)]
    changes += [((part, key), value) for part, key, value in tags.settings]
    return Cure(TAGGER, ADDED, about, _changed(base, changes))


# ---------------------------------------------------------------------------------------------
# Routes


def _ways(spec: RunSpec, types: Catalogue, base: Content) -> Iterator[Cure]:
    """Routes without a cycle of dependencies: up-down routing, and paths without some links."""
    network = topology.build(spec.setting.topology)
    try:
        refuse_bundles(network)
    except UserError as error:
        yield Cure("other routes", WAYS, "", None, error.problems[0].what)
        return
    free = _unpinned(spec, types, base)
    updown = UpDown.of(network)
    price = updown.price()
    about = f"compared with the shortest, {price.words}" if price else ""
    yield Cure("up-down routing", WAYS, about, _changed(free, [(("route",), updown.routes())]))
    judged = Judged(network)
    turns = fewest_turns(judged.graph())
    entries = entries_without(judged.routes(), turns.items)
    listed = ", ".join(name_of_turn(network, turn) for turn in turns.items)
    if entries is None:
        what = "no [[route]] entries were found that avoid them"
        yield Cure("fewer turns", WAYS, f"shortest paths without {listed}", None, what)
    elif turns.items:
        about = f"shortest paths without {listed}, by [[route]] entries"
        tables = route_tables(network, entries)
        yield Cure("fewer turns", WAYS, about, _changed(free, [(("route",), tables)]))
    cut = fewest_links(judged)
    if cut is None:
        what = "no set of links was found whose removal leaves no cycle and all hosts connected"
        yield Cure("fewer links", WAYS, "", None, what)
    elif cut.items:
        links = [[network.names[a], network.names[b]] for a, b in cut.items]
        gone = [*base["topology"].get("failed_links", []), *links]
        names = ", ".join(f"{a} - {b}" for a, b in links)
        about = f"shortest paths without {names}"
        changes: list[tuple[Path, Any]] = [(("topology", "failed_links"), gone)]
        yield Cure("fewer links", WAYS, about, _changed(free, changes))
    else:
        about = "only the shortest paths, which have no cycle here"
        yield Cure("shortest paths", WAYS, about, _changed(free, []))


def _unpinned(spec: RunSpec, types: Catalogue, base: Content) -> Content:
    """A run whose flows take the shortest paths, without `path`, [[route]] or `forwarding`.

    Flows with paths are written one by one: their kind of traffic may derive them from the network.
    """
    left = {key: value for key, value in base.items() if key not in ("route", "forwarding")}
    setting = spec.setting
    network = topology.build(setting.topology)
    flows = traffic.flows(setting.traffic, network, spec.seed, setting.run.duration)
    if not flows.paths and not flows.ack_paths:
        return left
    case = case_of(spec, types, {})
    free = replace(case, flows=tuple(replace(flow, ack=None) for flow in case.flows))
    return {**left, "traffic": tables_of(free).content["traffic"]}


# ---------------------------------------------------------------------------------------------
# Schemes


def _schemes(base: Content, network: Topology, size: str, paths: Paths) -> Iterator[Cure]:
    """What schemes add to the run's own flow control, or use instead of it.

    A scheme with the same flow control keeps the run's thresholds: it contributes only what the
    scheme without additions, such as PFC alone, does not have. size: of the run's buffer.
    """
    findings = Findings("schemes")
    asked = {FILES: FILES_OF_SCHEMES, MODULES: ["flow_control"]}
    variants = read_variants(asked, paths.studies, paths, findings)
    if findings.problems:
        raise UserError(findings.problems)
    scene = {**base, "buffer": {"size": size, **base.get("buffer", {}), "lossy_pool": "0B"}}
    own = base.get("flow_control", [])
    changes = {name: _changes(one, scene, network) for name, one in variants.items()}
    plain = {
        path
        for one in changes.values()
        if _control(one, own) == own and not _more(one, base)
        for path in one
    }
    for name, found in changes.items():
        scheme = variants[name].scheme
        about = scheme.about if scheme else f"of {variants[name].file}"
        if isinstance(found, str):
            yield Cure(name, SCHEMES, about, None, found)
        elif _control(found, own) != own:
            yield Cure(name, SCHEMES, about, _changed(scene, _joined(found, scene)))
        elif _more(found, base):
            kept = {path: value for path, value in found.items() if path not in plain}
            kept |= {path: value for path, value in found.items() if path[0] in LISTS}
            yield Cure(name, ADDED, about, _changed(base, _joined(kept, base)))


def _with_room(cure: Cure, switches: int, types: Catalogue) -> Cure:
    """A cure whose frames have room for the telemetry of a number of switches, if it has any."""
    content = cure.content or {}
    control = types.find(content.get("congestion_control", ""))
    if control is None or not control.telemetry:
        return cure
    section = {**content.get("queue_pair", {}), "telemetry_hops": switches}
    about = f"{cure.about}; frames have room for the telemetry of {switches} switches"
    return replace(cure, content={**content, "queue_pair": section}, about=about)


def _most_switches(spec: RunSpec, network: Topology) -> int:
    """The number of switches on the longest path of a run; with [[route]] entries a bound."""
    setting = spec.setting
    if setting.routes:
        return MOST_SWITCHES
    paths = ShortestPaths.of(network)
    longest = 1 + int(paths.distance[np.ix_(paths.edges, paths.edges)].max())
    flows = traffic.flows(setting.traffic, network, spec.seed, setting.run.duration)
    fixed = [len(path) - 2 for path in flows.paths.values()]
    return min(max([longest, *fixed]), MOST_SWITCHES)


def _changes(variant: Variant, scene: Content, network: Topology) -> dict[Path, Any] | str:
    """The changes of a scheme, computed for a run; or the reason why there are none."""
    changes = {path: value for one in variant.line for path, value in one.changes}
    first = variant.line[0]
    if first.scheme is not None:
        try:
            names = environment(scene, network, "the run")
            found = first.scheme.changes(names, first.file, "the run")
            changes = {path: value for path, value, _ in found} | changes
        except UserError as error:
            return error.problems[0].what
    return changes


def _control(changes: dict[Path, Any] | str, own: list[str]) -> list[str]:
    """The flow control that results from changes; empty for a scheme without changes."""
    found = [] if isinstance(changes, str) else changes.get(("flow_control",), own)
    return list(found)


def _more(changes: dict[Path, Any] | str, base: Content) -> bool:
    """Whether changes add a scheme, other than the flow control, that a run does not have."""
    if isinstance(changes, str):
        return False
    for path, value in changes.items():
        key = path[0]
        if key in LISTS and key != "flow_control" and set(value) - set(base.get(key, ())):
            return True
        if key in DEFAULTS and value != base.get(key):
            return True
    return False


def _joined(changes: Mapping[Path, Any], base: Content) -> list[tuple[Path, Any]]:
    """Changes whose agents are added to those of a run."""
    joined = dict(changes)
    for path in [path for path in changes if path[0] in LISTS and path != ("flow_control",)]:
        joined[path] = list(dict.fromkeys([*base.get(path[0], ()), *changes[path]]))
        if not joined[path]:
            del joined[path]
    return list(joined.items())
