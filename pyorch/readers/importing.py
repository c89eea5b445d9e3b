"""An experiment from other people's files, with what was assumed and what was left out."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tomli_w

from pyorch.base.errors import Problem, UserError, shown
from pyorch.base.reading import is_file, read_json, read_text
from pyorch.base.units import (
    LENGTHS,
    format_time,
    is_number,
    parse_delay,
    parse_rate,
    whole,
)
from pyorch.readers import door, hpcc_config, sonic
from pyorch.readers.graphs import Edge, Graph
from pyorch.readers.records import MessageList, Settings

RATES = {"rate": "", "LinkSpeedRaw": "bps", "bandwidth": "", "capacity": "", "speed": ""}
"""Attributes of links that may be their rate, and its unit if they have none."""
DELAYS = {"delay": "", "latency": "", "dist": "km", "length": "km"}
"""The same of delays."""
DEFAULT_RATE, DEFAULT_DELAY = "100Gbps", "1us"
_ROLES = ("role", "kind", "type")


@dataclass
class _Found:
    """What the files hold, each with its path."""

    network: Path | None = None
    messages: Path | None = None
    sizes: Path | None = None
    switch: Path | None = None
    profiles: Path | None = None
    settings: Settings = field(default_factory=Settings)
    assumed: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def tell(self, where: str, what: str, allowed: str | None, hint: str | None) -> None:
        self.problems.append(Problem(where, what, allowed, hint))


def experiment(files: Sequence[Path], folder: Path) -> str:
    """Return the text of an experiment file that is to lie in a folder.

    Raises UserError if the files cannot be read, or have no network.
    """
    found = _Found()
    for file in files:
        _take(found, file)
    if found.switch is not None:
        lookup = (found.profiles, found.profiles.name) if found.profiles else None
        found.settings = sonic.read(found.switch, found.switch.name, lookup)
        found.assumed += found.settings.assumed
    if found.network is None and found.settings.network is None:
        what = "none of the files holds a network"
        allowed = f"a network as {', '.join(door.formats('network'))}"
        raise UserError([Problem(", ".join(file.name for file in files), what, allowed)])
    graph: Graph = _read(found, found.network, "network") if found.network else Graph()
    listed: MessageList | None = None
    if found.messages and door.format_of(found.messages.name, "messages") != "csv":
        listed = _read(found, found.messages, "messages")  # CSV is read with the experiment
    topology = found.settings.network or {}
    if found.network is not None:
        topology = _topology(found, found.network, graph, folder)
    traffic = _traffic(found, listed, folder)
    return _text(
        found, [file.name for file in files], topology, traffic, _run(found, graph, listed)
    )


def _take(found: _Found, file: Path) -> None:
    """Note what a file holds, and the files that it names."""
    if not is_file(file):
        raise UserError([Problem(str(file), "there is no such file")])
    content = _content(file)
    if content == "settings":
        found.settings = hpcc_config.read(file, file.name)
        for of, name in found.settings.files.items():
            other = file.parent / name
            if is_file(other):
                setattr(found, of, getattr(found, of) or other)
            elif getattr(found, of) is None:
                found.settings.left_out.append(f"{name}: there is no such file beside {file.name}")
    elif content is None:
        found.settings.left_out.append(f"{file.name}: what it holds is not known")
    elif content != "trace":
        before = getattr(found, content)
        if before not in (None, file):
            what = f"a second file of {content}, after {before.name}"
            raise UserError([Problem(file.name, what, "one")])
        setattr(found, content, file)
    else:
        found.settings.left_out.append(f"{file.name}: a list of nodes to trace")


def _content(file: Path) -> str | None:
    """Return what a file holds: network, messages, sizes, settings, trace; None if unknown."""
    suffix = file.suffix.lower()
    if suffix == ".ini":
        return "profiles"
    if suffix == ".json" and sonic.is_config(read_json(file, file.name)):
        return "switch"
    if suffix not in (".txt", ".csv", ""):
        known = (of for of in ("network", "messages") if door.format_of(file.name, of))
        return next(known, None)
    text = read_text(file, file.name)
    lines = [line.replace(",", " ").split() for line in text.splitlines() if line.strip()]
    lines = [words for words in lines if words and not words[0].startswith("#")][:2]
    first, second = (*lines, [], [])[:2]
    if suffix == ".csv" and first and not is_number(first[0]):
        by_column = {"a": "network", "src": "messages", "size_bytes": "sizes"}
        return next((of for column, of in by_column.items() if column in first), None)
    counted = len(first) == 1 and whole(first[0]) is not None
    holds = {
        "settings": hpcc_config.is_config(first),
        "messages": counted and len(second) in (5, 6),
        "network": len(first) in (3, 4, 6),
        "sizes": 2 in (len(first), len(second)) and is_number(first[0]),
        "trace": counted,
    }
    return next((of for of, does in holds.items() if does), None)


def _read(found: _Found, file: Path, content: door.Content) -> Any:
    """Return the `Graph` or the `MessageList` of a file. Raises UserError."""
    kind = door.format_of(file.name, content) or "hpcc"
    held = door.reader(kind, content)(file, file.name, found.tell)
    if held is None or found.problems:
        raise UserError([problem.inside(file.name) for problem in found.problems])
    return held


def _topology(found: _Found, file: Path, graph: Graph, folder: Path) -> dict[str, Any]:
    table: dict[str, Any] = {"kind": "file", "file": os.path.relpath(file, folder)}
    if door.format_of(file.name, "network") is None:
        table["format"] = "hpcc"
    table |= {"rate": DEFAULT_RATE, "delay": DEFAULT_DELAY}
    for key, default, names in (("rate", DEFAULT_RATE, RATES), ("delay", DEFAULT_DELAY, DELAYS)):
        _attribute(found, table, graph, (key, default), names)
    pairs = Counter(frozenset((edge.a, edge.b)) for edge in graph.edges)
    if max(pairs.values(), default=1) > 1:
        table["parallel"] = "merge"
        many = sum(1 for count in pairs.values() if count > 1)
        told = f"{many} pairs of nodes have several links: each becomes one of the summed rates"
        found.assumed.append(told)
        degree = Counter(end for pair in pairs for end in pair)
    else:
        degree = Counter(end for edge in graph.edges for end in (edge.a, edge.b))
    hosts = [
        name
        for name, of in graph.nodes.items()
        if {str(of.get(key, "")).lower() for key in _ROLES} & {"host", "server", "linux"}
    ]
    if not hosts:
        table |= {"hosts": [], "add_hosts": 1}
        found.assumed.append("the file has no hosts: every node is a switch, with one host added")
    elif max((degree[name] for name in hosts), default=1) > 1:
        table["several_links"] = "split"
        told = "hosts have several links: each becomes a server of NAME-0, NAME-1, ..., and its "
        found.assumed.append(told + "messages take the links in turn")
    if graph.servers:
        told = "NVSwitches are the scale-up domain of each server, without contention inside"
        found.assumed.append(told)
    return table


def _attribute(
    found: _Found,
    table: dict[str, Any],
    graph: Graph,
    key: tuple[str, str],
    names: dict[str, str],
) -> None:
    """Choose the attribute of links that is their rate or delay, and its unit."""
    name, default = key
    have = Counter(one for edge in graph.edges for one in edge.attributes)
    chosen = next((one for one in names if have[one]), None)
    missing = len(graph.edges) - (have[chosen] if chosen else 0)
    if missing:
        found.assumed.append(f"{missing} of {len(graph.edges)} links have no {name}: {default}")
    if chosen is None:
        return
    values = [
        str(edge.attributes[chosen]).strip() for edge in graph.edges if chosen in edge.attributes
    ]
    bare = any(is_number(value) for value in values)
    unit = names[chosen] if bare else ""
    parse = parse_rate if name == "rate" else parse_delay
    try:
        for value in values:
            parse(f"{value}{unit}" if is_number(value) else value)
    except ValueError as error:
        told = f"attribute {chosen!r} of links is not read as their {name}: {error}"
        found.settings.left_out.append(told)
        found.assumed.append(f"all links have a {name} of {default}")
        return
    if chosen != name:
        table[f"{name}_attribute"] = chosen
    if unit:
        table[f"{name}_unit"] = unit
        length = ", as a length of cable, 5 ns a metre" if unit in LENGTHS else ""
        found.assumed.append(f"attribute {chosen!r} of links is their {name} in {unit}{length}")


def _traffic(found: _Found, listed: MessageList | None, folder: Path) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = []
    if found.messages:
        entry = {"kind": "messages", "file": os.path.relpath(found.messages, folder)}
        if door.format_of(found.messages.name, "messages") is None:
            entry["format"] = "hpcc"
        entries.append(entry)
        if listed is not None and listed.classes and set(listed.classes) - {3}:
            classes = sorted({one for one in listed.classes if one is not None})
            found.settings.put(
                "buffer", "lossless_classes", sum(1 << one for one in classes), f"classes {classes}"
            )
            found.assumed.append("every class of the flows is lossless")
    if found.sizes:
        file = os.path.relpath(found.sizes, folder)
        entries.append({"kind": "poisson", "workload": file, "load": 0.5})
        found.assumed.append("flows of these sizes arrive at half the rate of every host's link")
    if not entries:
        entries.append({"kind": "permutation", "shift": 1, "size": "1MB"})
        if found.settings.network is not None and found.network is None:
            # on one switch a permutation meets nowhere
            senders = min(8, found.settings.network["hosts"] - 1)
            entries[-1] = {"kind": "incast", "dst": "h0", "degree": senders, "size": "1MB"}
        told = "each host sends 1 MB to the next one"
        if entries[-1]["kind"] == "incast":
            told = f"{entries[-1]['degree']} hosts send 1 MB to the first"
        found.assumed.append(f"there is no file of traffic: {told}")
    if found.settings.traffic_class is not None:
        entries = [{**entry, "class": found.settings.traffic_class} for entry in entries]
    return entries


def _run(found: _Found, graph: Graph, listed: MessageList | None) -> dict[str, Any]:
    """Return the table [run]: as long as what is sent could need at a tenth of a link's rate."""
    run: dict[str, Any] = {"duration": "10ms"}
    if listed is not None and listed.src:
        sent: Counter[str] = Counter()
        for names in (listed.src, listed.dst):
            for name, size in zip(names, listed.sizes, strict=True):
                sent[name] += size
        slowest = min(map(_rate_of, graph.edges), default=parse_rate(DEFAULT_RATE))
        last = max(start or 0 for start in listed.starts or [0])
        length = last + 80 * max(sent.values()) * 10**12 // max(slowest, 1) + 10**10
        run["duration"] = format_time(-(-length // 10**9) * 10**9)
    if not found.sizes:
        run["stop_when_done"] = True
    if "run" not in found.settings.sections:
        found.assumed.append(f"a run takes at most {run['duration']}")
    return run


def _rate_of(edge: Edge) -> int:
    try:
        return parse_rate(str(edge.attributes.get("rate", DEFAULT_RATE)))
    except ValueError:
        return parse_rate(DEFAULT_RATE)


def _text(
    found: _Found,
    names: Sequence[str],
    topology: dict[str, Any],
    traffic: Sequence[dict[str, Any]],
    run: dict[str, Any],
) -> str:
    said = ", ".join(names)
    lines = [f"# Imported from {_comment(said)}."]
    lines += [f"# assumed: {_comment(one)}" for one in found.assumed]
    lines += [f"# left out: {_comment(one)}" for one in found.settings.left_out]
    top: dict[str, Any] = {
        "title": f"Imported from {shown(said, 80)}",
        "question": "What does this network do with this traffic?",
        "source": "own",
        "flow_control": ["pfc"],
    }
    lines += ["", tomli_w.dumps(top | found.settings.at_top).rstrip()]
    sections = dict(found.settings.sections)
    lines += ["", "[run]", *_keys(run, sections.pop("run", {}))]
    lines += ["", "[topology]", *_keys(topology, {})]
    for name, keys in sections.items():
        lines += ["", f"[{name}]", *_keys({}, keys)]
    for entry in traffic:
        lines += ["", "[[traffic]]", *_keys(entry, {})]
    lines += ["", "[[metric]]", 'name = "fct"', 'kind = "fct"', ""]
    return "\n".join(lines)


def _keys(plain: dict[str, Any], told: dict[str, tuple[Any, str]]) -> list[str]:
    """Return the lines of a table; what is told with its origin wins."""
    lines = []
    for key, value in {**plain, **{key: value for key, (value, _) in told.items()}}.items():
        line = tomli_w.dumps({key: value}).strip()
        origin = f"  # {_comment(told[key][1])}" if key in told else ""
        lines.append(f"{line:<31}{origin}" if origin else line)
    return lines


def _comment(text: str) -> str:
    return re.sub(r"\s+", " ", shown(text, 300))
