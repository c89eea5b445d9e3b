"""A run made explicit: RunSpec -> Case -> the tables of an experiment file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pyorch.addons.lab.case import Case, Flow, Link, Part
from pyorch.addons.lab.drive import refuse_bundles
from pyorch.base.fields import NEVER, Table
from pyorch.base.fields import written as spelled
from pyorch.base.units import format_bytes, format_rate, format_time
from pyorch.network import topology
from pyorch.network.topology import HOST, Topology
from pyorch.plan import RunSpec
from pyorch.setting.attributes import DEFAULTS, Catalogue, snake_case, written
from pyorch.setting.canonical import RunSection, Setting
from pyorch.setting.experiment import RunTable
from pyorch.sizing.theory import IDEAL, usual_response
from pyorch.traffic import base as traffic
from pyorch.traffic.base import Flows

LISTS = ("flow_control", "agents", "host_agents")
"""Keys that choose several schemes."""
Place = tuple[str | int, ...]
"""The position of something in the tables of a file."""


# ---------------------------------------------------------------------------------------------
# RunSpec -> Case


def case_of(spec: RunSpec, types: Catalogue, ways: Mapping[int, Sequence[int]]) -> Case:
    """Make a run explicit. ways: by flow number, the nodes on the flow's path, if known."""
    setting = spec.setting
    network = topology.build(setting.topology)
    refuse_bundles(network)
    flows = traffic.flows(setting.traffic, network, spec.seed, setting.run.duration)
    names = network.names
    kinds = network.kinds.tolist()
    return Case(
        hosts=tuple(name for name, kind in zip(names, kinds, strict=True) if kind == HOST),
        switches=tuple(name for name, kind in zip(names, kinds, strict=True) if kind != HOST),
        links=tuple(_links(network)),
        flows=tuple(_flows(flows, network, ways)),
        run=_run(spec),
        settings=_settings(setting, types),
        nodes=tuple(_nodes(setting, types)),
        routes=tuple(_spelled(route) for route in setting.routes),
        faults=tuple(_spelled(fault) for fault in setting.faults),
    )


def _links(network: Topology) -> Iterator[Link]:
    down: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for link, start, end in network.failures:
        down[link].append((start, end))
    ends = zip(network.a.tolist(), network.b.tolist(), strict=True)
    for link, (a, b) in enumerate(ends):
        rate, delay = int(network.rates[link]), int(network.delays[link])
        yield Link(network.names[a], network.names[b], rate, delay, tuple(down[link]))


def _flows(flows: Flows, network: Topology, ways: Mapping[int, Sequence[int]]) -> Iterator[Flow]:
    """The flows between the hosts through which they leave and arrive.

    Communication within servers takes no time, and flows that stay there are removed.
    """
    names = network.names
    after: dict[int, list[tuple[int, int]]] = defaultdict(list)
    if flows.waits is not None:
        waits = flows.waits
        for one, other, delay in zip(waits.flows, waits.after, waits.delays, strict=True):
            after[int(one)].append((int(other), int(delay)))
    src, dst = flows.ends_on_network(network)
    inside = src == dst

    def before(flow: int) -> Iterator[tuple[int, int]]:
        for other, delay in after[flow]:
            if not inside[other]:
                yield other, delay
            else:
                yield from ((first, delay + more) for first, more in before(other))

    for flow in np.flatnonzero(~inside).tolist():
        ack: str | tuple[str, ...] | None = None
        if flow in flows.ack_reverse:
            ack = "reverse" if flows.ack_reverse[flow] else "ecmp"
        elif flow in flows.ack_paths:
            ack = tuple(names[node] for node in flows.ack_paths[flow].tolist())
        yield Flow(
            number=flow,
            src=names[int(src[flow])],
            dst=names[int(dst[flow])],
            size=int(flows.sizes[flow]),
            start=int(flows.starts[flow]),
            stop=int(flows.stops[flow]),
            traffic_class=int(flows.classes[flow]),
            rate=int(flows.rates[flow]),
            window=int(flows.windows[flow]),
            on_off=flows.on_off.get(flow),
            path=tuple(names[node] for node in ways.get(flow, ())),
            ack=ack,
            after=tuple(before(flow)),
            group=int(flows.groups[flow]),
        )


def _run(spec: RunSpec) -> dict[str, Any]:
    section = spec.setting.run
    run = {key: getattr(section, key) for key in RunSection.model_fields}
    return {**run, "seeds": [spec.seed]}


def _settings(setting: Setting, types: Catalogue) -> dict[Part, Any]:
    settings: dict[Part, Any] = {}
    for key in LISTS:
        for name in getattr(setting, key):
            settings["scheme", key, name] = _named(name, types)
    for key, default in DEFAULTS.items():
        name = str(getattr(setting, key))
        if name != default:
            settings["scheme", key, name] = _named(name, types)
    for section, values in _sections(setting.attributes, types).items():
        for key, value in values.items():
            settings["attribute", section, key] = value
    return settings


def _nodes(setting: Setting, types: Catalogue) -> list[dict[str, Any]]:
    """Return [[node]] as in a file."""
    return [
        {"names": list(entry.nodes), **_sections(entry.attributes, types)}
        for entry in setting.nodes
    ]


def _named(type_name: str, types: Catalogue) -> str:
    """Return the name of a type in files: its section if no other type has the same."""
    short = types.short_name(type_name)
    info = types.find(short)
    return short if info is not None and info.name == type_name else type_name


def _sections(
    attributes: Mapping[str, Mapping[str, str]], types: Catalogue
) -> dict[str, dict[str, Any]]:
    return {
        _named(type_name, types): {
            snake_case(name): _value(types, type_name, name, text) for name, text in values.items()
        }
        for type_name, values in attributes.items()
    }


def _value(types: Catalogue, type_name: str, name: str, text: str) -> Any:
    """Convert an attribute's value from ns-3's spelling to a value of TOML."""
    spelled = written(types, type_name, name, text)
    kind = types.attributes(types.by_name[type_name])[snake_case(name)].type
    if not isinstance(spelled, str):
        return spelled  # a table
    if kind.endswith("BooleanValue"):
        return text == "true"
    if spelled != text:
        return spelled
    if kind.endswith(("IntegerValue", "UintegerValue")):  # and no size
        return int(text)
    return float(text) if kind.endswith("DoubleValue") else text


def _spelled(table: Table) -> dict[str, Any]:
    """Return a table as in a file: values with units, without ends that never come."""
    entry: dict[str, Any] = spelled(table)
    return entry


def traces_of(spec: RunSpec) -> list[dict[str, Any]]:
    """The traces of a run as in a file."""
    return [
        {"table": trace.table, "classes": list(trace.classes)}
        | ({"ports": [":".join(port) for port in trace.ports]} if trace.ports else {})
        | ({"period": format_time(trace.period)} if trace.period else {})
        for trace in spec.setting.traces
    ]


# ---------------------------------------------------------------------------------------------
# Case -> tables


@dataclass(frozen=True)
class Tables:
    """The tables of an experiment file, and the position of each part in them."""

    content: dict[str, Any]
    places: dict[Part, Place] = field(default_factory=dict)


def tables_of(case: Case, title: str = "A part of a run") -> Tables:
    """Return the experiment file of a case."""
    places: dict[Part, Place] = {}
    content: dict[str, Any] = {"title": title}
    _choose(case.settings, content, places)
    content["run"] = _run_table(case.run)
    content["topology"] = _topology(case, places)
    _set(case.settings, content, places)
    for name, entries in (("node", case.nodes), ("route", case.routes), ("fault", case.faults)):
        if entries:
            content[name] = [dict(entry) for entry in entries]
        places |= {(name, str(number)): (name, number) for number in range(len(entries))}
    content["traffic"] = _traffic(case, places)
    return Tables(content, places)


def tables_of_run(spec: RunSpec, types: Catalogue) -> dict[str, Any]:
    """Return the experiment file of a single run, with network and traffic as they were written.

    Unlike a case it is the run itself: it has the same flows, with the same numbers.
    """
    setting = spec.setting
    content: dict[str, Any] = {"title": "One run"}
    if setting.kinds:
        content["kinds"] = list(setting.kinds)
    settings = _settings(setting, types)
    _choose(settings, content, {})
    content["run"] = _run_table(_run(spec))
    content["topology"] = _spelled(setting.topology)
    _set(settings, content, {})
    nodes = _nodes(setting, types)
    for name, entries in (
        *(("node", nodes), ("route", [_spelled(route) for route in setting.routes])),
        *(("fault", [_spelled(fault) for fault in setting.faults]), ("trace", traces_of(spec))),
    ):
        if entries:
            content[name] = entries
    content["traffic"] = [_spelled(entry) for entry in setting.traffic]
    return content


def _set(settings: Mapping[Part, Any], content: dict[str, Any], places: dict[Part, Place]) -> None:
    for (kind, section, key), value in (i for i in settings.items() if i[0][0] != "scheme"):
        content.setdefault(section, {})[key] = value
        places[kind, section, key] = (section, key)
    port = content.get("port", {})
    if "pause_response" not in port and usual_response(port) != IDEAL:
        content["port"] = port | {"pause_response": "ideal"}  # as a run has it without the key


def _choose(
    settings: Mapping[Part, Any], content: dict[str, Any], places: dict[Part, Place]
) -> None:
    for part, name in settings.items():
        if part[0] != "scheme":
            continue
        key = part[1]
        if key in LISTS:
            content.setdefault(key, []).append(name)
            places[part] = (key, len(content[key]) - 1)
        else:
            content[key] = name
            places[part] = (key,)


def _run_table(run: Mapping[str, Any]) -> dict[str, Any]:
    """Return [run] without its defaults."""
    table: dict[str, Any] = {}
    for key, value in run.items():
        info = RunTable.model_fields[key]
        if value == info.default:
            continue
        is_time = key in ("duration", "warmup", "drain", "deadlock_test")
        table[key] = format_time(value) if is_time else value
    return table


def _topology(case: Case, places: dict[Part, Place]) -> dict[str, Any]:
    rate, delay = _common([one.rate for one in case.links]), _common([o.delay for o in case.links])
    links = []
    for number, link in enumerate(case.links):
        entry: dict[str, Any] = {"between": [link.a, link.b]}
        entry |= {"rate": format_rate(link.rate)} if link.rate != rate else {}
        entry |= {"delay": format_time(link.delay)} if link.delay != delay else {}
        links.append(entry)
        places[link.part] = ("topology", "links", number)
    table: dict[str, Any] = {
        "kind": "explicit",
        "rate": format_rate(rate),
        "delay": format_time(delay),
        "hosts": list(case.hosts),
        "switches": list(case.switches),
        "links": links,
    }
    for kind, names in (("host", case.hosts), ("switch", case.switches)):
        key = f"{kind}s" if kind == "host" else "switches"
        places |= {(kind, name): ("topology", key, number) for number, name in enumerate(names)}
    failed = [[one.a, one.b] for one in case.links for start, _ in one.down if start == 0]
    failures = [
        {"link": [link.a, link.b], "down": format_time(start)}
        | ({} if end == NEVER else {"up": format_time(end)})
        for link in case.links
        for start, end in link.down
        if start > 0
    ]
    table |= {"failed_links": failed} if failed else {}
    return table | ({"failures": failures} if failures else {})


def _common(values: Sequence[int]) -> int:
    """Return the most frequent value, the first one in case of a tie."""
    return max(dict.fromkeys(values), key=values.count)


def _traffic(case: Case, places: dict[Part, Place]) -> list[dict[str, Any]]:
    """Return an entry for each endless flow, and one for all messages of each group."""
    entries: list[dict[str, Any]] = []
    groups: dict[int, dict[str, Any]] = {}
    waited = {number for flow in case.flows for number, _ in flow.after}
    for flow in case.flows:
        part = ("flow", str(flow.number))
        if flow.size == 0:
            places[part] = ("traffic", len(entries))
            entry: dict[str, Any] = {"kind": "greedy", "src": flow.src, "dst": flow.dst}
            entry |= _own_keys(flow) | _common_keys(flow)
            entries.append(entry | ({} if flow.stop == NEVER else {"stop": format_time(flow.stop)}))
            continue
        if flow.group not in groups:
            groups[flow.group] = {"kind": "messages", **_common_keys(flow), "messages": []}
            entries.append(groups[flow.group])
        group = groups[flow.group]
        places[part] = ("traffic", entries.index(group), "messages", len(group["messages"]))
        group["messages"].append(_message(flow, flow.number in waited))
    return entries


def _common_keys(flow: Flow) -> dict[str, Any]:
    keys: dict[str, Any] = {}
    if flow.rate:
        keys["rate_cap"] = format_rate(flow.rate)
    if flow.window:
        keys["window"] = format_bytes(flow.window)
    if flow.on_off is not None:
        keys |= dict(zip(("on", "off"), map(format_time, flow.on_off), strict=True))
    return keys


def _own_keys(flow: Flow) -> dict[str, Any]:
    keys: dict[str, Any] = {} if flow.traffic_class == 3 else {"class": flow.traffic_class}
    if flow.start:
        keys["start"] = format_time(flow.start)
    if flow.path:
        keys["path"] = " > ".join(flow.path)
    if flow.ack is not None:
        keys["ack_path"] = flow.ack if isinstance(flow.ack, str) else list(flow.ack)
    return keys


def _message(flow: Flow, is_waited_for: bool) -> dict[str, Any]:
    entry: dict[str, Any] = {"src": flow.src, "dst": flow.dst, "size": format_bytes(flow.size)}
    entry |= _own_keys(flow)
    if is_waited_for:
        entry["id"] = f"flow{flow.number}"
    if flow.after:
        entry["after"] = [f"flow{number}" for number, _ in flow.after]
        entry["delay"] = format_time(max(delay for _, delay in flow.after))
    return entry
