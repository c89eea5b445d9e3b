"""An experiment from other people's files, with what was assumed and what was left out."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import tomli_w

from pyorch.base.errors import Problem, UserError, refusal, shown
from pyorch.base.reading import is_file, is_folder
from pyorch.base.units import MAX_TIME, format_bytes, format_time, parse_rate, parse_time, whole
from pyorch.readers import astra, door, hpcc_config, mlxconfig, networks, sonic
from pyorch.readers.contents import UNUSED, content_of
from pyorch.readers.graphs import MAX_PARTS, Graph, refuse_many
from pyorch.readers.records import Job, MessageList, Settings

_TTL, _TIMEOUT, _BUFFER = 64, 10**10, 5 * 10**6
"""Links of a path, a round trip [ps], and bytes on cables that our defaults are enough for."""
LONG_JOB, SHORT = "100s", "10ms"
"""Longest run of a job, which ends when it is done, and run of flows that arrive at random."""

_SHARED = (
    "messages from a rank to another share a connection, as NCCL's do; SimAI and ASTRA-sim have a "
    'queue pair for each: connection = "message"'
)
_OF_JOB = """
[[metric]]
name = "time"
kind = "job_time"
traffic = "job"

[[metric]]
name = "exposed"
kind = "exposed_communication"
traffic = "job"

[[trace]]
table = "pause_tree"

[[trace]]
table = "flow_link"

[[figure]]
name = "costs"
kind = "lost"
title = "What the time of the job consists of"
traffic = "job"
costs = true
"""


@dataclass
class _Found:
    """What was found. files: by what they hold. server: hosts of one. round_trip: longest [ps]."""

    files: dict[str, Path] = field(default_factory=dict)
    settings: Settings = field(default_factory=Settings)
    assumed: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    server: int = 1
    round_trip: int = 0

    def tell(self, where: str, what: str, allowed: str | None, hint: str | None) -> None:
        self.problems.append(Problem(where, what, allowed, hint))


def experiment(files: Sequence[Path], folder: Path) -> str:
    """Return the text of an experiment file that is to lie in a folder.

    Raises UserError if the files cannot be read, or have no network.
    """
    if not files:
        raise refusal("import", "no file was given", "one to six files, or a folder")
    files = list(dict.fromkeys(files))
    found = _Found()
    for file in files:
        _take(found, file)
    _set(found)
    job = _job(found)
    given = found.files.get("network")
    listed = _listed(found)
    if listed is not None and not (given or found.settings.network or found.settings.named):
        _star_of(found, listed)
    if given is None and found.settings.network is None:
        what = "none of the files holds a network"
        allowed = f"a network as {', '.join(door.formats('network'))}"
        named = found.settings.named.get("network")
        hint = f"name {named or 'its file'}, too: invoke import topology.txt flow.txt --out my.toml"
        raise refusal(", ".join(file.name for file in files), what, allowed, hint)
    graph: Graph = _read(found, given, "network") if given else Graph()
    topology = found.settings.network or {}
    rates = {parse_rate(topology.get("rate", networks.RATE))}
    losses: list[dict[str, Any]] = []
    if given is not None:
        network = networks.assumed(given, graph, folder, listed.names if listed else ())
        topology, losses, found.server = network.table, network.losses, network.server
        rates = network.rates
        found.assumed += network.assumed
        _far(found, network)
        found.settings.left_out += network.left_out
    if found.settings.failures:
        found.assumed.append("LINK_DOWN counts from 2 s on, as there")
    hpcc_config.marking(found.settings, rates)
    found.assumed = found.settings.assumed + found.assumed
    found.assumed += _schemes(found.settings)
    traffic = _traffic(found, listed, job, folder)
    run = _run(found, min(rates), listed, job)
    return _text(found, [file.resolve().name for file in files], topology, [*losses, *traffic], run)


def _far(found: _Found, network: networks.Assumed) -> None:
    """Note what a network of long cables needs, unless a configuration says it."""
    found.round_trip = network.round_trip
    sections, told = found.settings.sections, f"of at most {network.hops} links a path"
    if network.hops > _TTL and "ttl" not in sections.get("queue_pair", {}):
        found.settings.put("queue_pair", "ttl", 255, told)
    if network.round_trip > _TIMEOUT and "timeout" not in sections.get("queue_pair", {}):
        wait = format_time(min(2 * network.round_trip, MAX_TIME))
        found.settings.put("queue_pair", "timeout", wait, f"twice the longest round trip, {told}")
    classes = sections.get("buffer", {}).get("lossless_classes", (8, ""))[0].bit_count()
    if network.in_flight * classes > _BUFFER and "size" not in sections.get("buffer", {}):
        size = format_bytes(-(-3 * network.in_flight * classes // 10**7) * 10**7)
        cables = f"{network.in_flight} B under way on cables of one node, each lossless class"
        found.settings.put("buffer", "size", size, f"three times {cables}")
        found.assumed.append(f"cables are long: switches have a buffer of {size}")


def _set(found: _Found) -> None:
    """Read the files of settings."""
    if "settings" in found.files:
        _configured(found, found.files["settings"])
    if "switch" in found.files:
        found.settings.add(sonic.read(found.files["switch"], found.files.get("profiles")))
    for content, read in (("dimensions", astra.network), ("system", astra.system)):
        if content in found.files:
            found.settings.add(read(found.files[content], found.files[content].name))
    found.server = (found.settings.network or {}).get("hosts_per_server", 1)
    for content, needs in (("profiles", "switch"), ("groups", "job"), ("system", "job")):
        if content in found.files and needs not in found.files:
            told = f"{found.files[content].name}: no {needs} is given"
            found.settings.left_out.append(told)
    if "nic" in found.files:
        found.settings.add(mlxconfig.read(found.files["nic"], found.files["nic"].name))
        found.settings.assumed = [one for one in found.settings.assumed if one != sonic.OUR_SENDERS]


def _schemes(settings: Settings) -> Iterator[str]:
    """Yield what is assumed of flow control, frames and congestion control."""
    own = "headroom" in settings.sections.get("buffer", {})
    ours = "" if own else ", headroom by our rule"
    control = f"PFC on every link{ours}" if settings.at_top.get("flow_control") != [] else "no PFC"
    yield f"{control}; headers and ACKs have our sizes"
    if "congestion_control" not in settings.at_top:
        yield "no congestion control"


def _listed(found: _Found) -> MessageList | None:
    """Return the messages of a file; None if there is none."""
    file = found.files.get("messages")
    if file is None:
        return None
    listed: MessageList = _read(found, file, "messages")
    if not len(listed):
        found.settings.left_out.append(f"{found.files.pop('messages').name}: it has no flows")
    found.settings.left_out += listed.left_out
    return listed


def _take(found: _Found, file: Path) -> None:
    """Note what a file holds, or the files of the HPCC simulator in a folder."""
    if is_folder(file):
        for one in _of_folder(file):
            _take(found, one)
        return
    if not is_file(file):
        there = os.path.exists(file)  # noqa: PTH110 (Path.exists raises on names that are too long)
        raise refusal(str(file), "is not a file to be read" if there else "there is no such file")
    content = content_of(file)
    if content in UNUSED:
        found.settings.left_out.append(f"{file.name}: {UNUSED[content]}")
        return
    before = found.files.setdefault(content, file)
    if before != file:
        raise refusal(file.name, f"a second file of {content}, after {before.name}", "one")


def _of_folder(folder: Path) -> list[Path]:
    """Return the configuration in a folder of the HPCC simulator, else its network and flows."""
    for place in (folder / part for part in ("", "mix", "simulation/mix")):
        for names in (("config.txt",), ("topology.txt", "flow.txt")):
            if is_file(place / names[0]):
                return [place / name for name in names if is_file(place / name)]
    what = "is a folder without config.txt or topology.txt, also in mix"
    try:
        others = sorted(one for one in folder.iterdir() if is_file(one))[:3]
    except OSError:
        others = []
    told = " ".join(map(str, others))
    hint = f"name its files, such as: invoke import {told} --out my.toml" if others else None
    raise refusal(str(folder), what, "a file, or a folder of the HPCC simulator", hint)


def _configured(found: _Found, file: Path) -> None:
    """Read a configuration; the files that it names are read unless others were given."""
    found.settings.add(hpcc_config.read(file, file.name))
    for content, name in found.settings.files.items():
        if is_file(file.parent / name):
            found.files.setdefault(content, file.parent / name)
        elif content not in found.files:
            told = found.settings.named.get(content, name)
            found.settings.left_out.append(f"{told}: there is no such file beside {file.name}")


def _job(found: _Found) -> Job | None:
    """Return the job of a file, with a star of as many hosts if there is no network."""
    file = found.files.get("job")
    if file is None:
        return None
    kind = door.format_of(file.name, "job") or ""
    job: Job = door.reader(kind, "job")(file, file.name, found.files.get("groups"))
    found.assumed += job.assumed
    if "flops" in job.entry and "flops" not in found.settings.job:
        found.assumed.append(f"a rank does {job.entry['flops']:g} operations per second")
    if job.entry["kind"] != "goal":
        found.assumed.append(_SHARED)
    if "network" not in found.files and found.settings.network is None:
        _star(found, job.ranks * job.nics, {"hosts_per_server": job.nics} if job.nics > 1 else {})
    return job


def _star_of(found: _Found, listed: MessageList) -> None:
    """Assume a star for messages alone if they lead between numbers, or h and a number."""
    numbers = [whole(name.removeprefix("h")) for name in listed.names]
    known = [one for one in numbers if one is not None]
    if len(known) == len(numbers) and 0 < max(known, default=0) < MAX_PARTS:
        _star(found, 1 + max(known), {})


def _star(found: _Found, hosts: int, more: Mapping[str, Any]) -> None:
    table = {"kind": "star", "hosts": hosts, **more}
    found.settings.network = table | {"rate": networks.RATE, "delay": networks.DELAY}
    told = f"there is no file of a network: a star of {hosts} hosts, {networks.RATE}"
    found.assumed.append(told)


def _read(found: _Found, file: Path, content: door.Content) -> Any:
    """Return the `Graph` or the `MessageList` of a file. Raises UserError."""
    kind = door.format_of(file.name, content) or "hpcc"
    held = door.reader(kind, content)(file, file.name, found.tell)
    if held is None or found.problems:
        raise UserError([problem.inside(file.name) for problem in _each_once(found.problems)])
    if isinstance(held, Graph):
        refuse_many(len(held.nodes) + len(held.edges), file.name)
    return held


def _each_once(problems: Sequence[Problem]) -> list[Problem]:
    """Return the first of problems that differ in their place alone, with the number of others."""
    alike: dict[tuple[str, str | None, str | None], list[str]] = {}
    for one in problems:
        alike.setdefault((one.what, one.allowed, one.hint), []).append(one.where)
    return [
        Problem(f"{places[0]} and {len(places) - 1} more" if len(places) > 1 else places[0], *said)
        for said, places in alike.items()
    ]


def _traffic(
    found: _Found, listed: MessageList | None, job: Job | None, folder: Path
) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = []
    messages, sizes = found.files.get("messages"), found.files.get("sizes")
    if job:
        more = found.settings.job
        entries.append(
            {**job.entry, "label": "job", "file": os.path.relpath(job.file, folder), **more}
        )
        if "groups" in found.files:
            entries[-1]["groups"] = os.path.relpath(found.files["groups"], folder)
    if messages:
        entry = {"kind": "messages", "file": os.path.relpath(messages, folder)}
        if door.format_of(messages.name, "messages") is None:
            entry["format"] = "hpcc"
        entries.append(entry)
        classes = [] if listed is None else np.unique(listed.classes[listed.classes >= 0]).tolist()
        if set(classes) - {3} and found.settings.at_top.get("flow_control") != []:
            found.settings.put(
                "buffer", "lossless_classes", sum(1 << one for one in classes), f"classes {classes}"
            )
            found.assumed.append("every class of the flows is lossless")
    if sizes:
        file = os.path.relpath(sizes, folder)
        entries.append({"kind": "poisson", "workload": file, "load": 0.5})
        found.assumed.append("flows of these sizes arrive at half the rate of every host's link")
    if not entries:
        entries.append(_default(found))
    return [{**entry, **found.settings.entry} for entry in entries]


def _default(found: _Found) -> dict[str, Any]:
    """Return traffic where no file has some."""
    told = "there is no file of traffic"
    network = found.settings.network
    if network is None or "network" in found.files or network["kind"] != "star":
        to = "that of its number in the next server" if found.server > 1 else "the next one"
        found.assumed.append(f"{told}: each host sends 1 MB to {to}")
        return {"kind": "permutation", "shift": found.server, "size": "1MB"}
    # on one switch a permutation meets nowhere
    senders = min(8, network["hosts"] - 1)
    found.assumed.append(f"{told}: {senders} hosts send 1 MB to the first")
    return {"kind": "incast", "dst": "h0", "degree": senders, "size": "1MB"}


def _run(
    found: _Found, slowest: int, listed: MessageList | None, job: Job | None
) -> dict[str, Any]:
    """Return the table [run]: as long as what is sent could need at a tenth of a link's rate."""
    run: dict[str, Any] = {"duration": LONG_JOB}
    last = 0
    if job is None:
        most = 10**6  # of the default
        if listed is not None and len(listed):
            ends = np.concatenate((listed.src, listed.dst))
            most = max(most, int(np.bincount(ends, weights=np.tile(listed.sizes, 2)).max()))
            if any(listed.after):  # one after the other, at worst
                most = int(listed.sizes.sum())
            last = max(0, int(listed.starts.max())) + listed.delays
        length = last + 80 * most * 10**12 // max(slowest, 1)
        length += max(10**10, 10 * found.round_trip)
        run["duration"] = format_time(min(-(-length // 10**9) * 10**9, MAX_TIME))
    if "sizes" in found.files:
        run["duration"] = SHORT
    if "sizes" not in found.files:
        run["stop_when_done"] = True
    told = found.settings.sections.get("run", {})
    if "duration" in told and parse_time(told["duration"][0]) <= last:
        found.settings.left_out.append(f"{told.pop('duration')[1]}: later flows would never start")
    if "duration" not in told:
        found.assumed.append(f"a run takes at most {run['duration']}")
    return run


def _text(
    found: _Found,
    names: Sequence[str],
    topology: dict[str, Any],
    entries: Sequence[dict[str, Any]],
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
    for failure in found.settings.failures:
        lines += ["", "[[topology.failures]]", *_keys(failure, {})]
    for name, keys in sections.items():
        lines += ["", f"[{name}]", *_keys({}, keys)]
    for entry in entries:
        name = "node" if "names" in entry else "traffic"
        lines += ["", f"[[{name}]]", *_keys(entry, {})]
    lines += ["", "[[metric]]", 'name = "fct"', 'kind = "fct"', ""]
    return "\n".join(lines) + (_OF_JOB if "job" in found.files else "")


def _keys(plain: dict[str, Any], told: dict[str, tuple[Any, str]]) -> list[str]:
    """Return the lines of a table; what is told with its origin wins."""
    lines = []
    for key, value in {**plain, **{key: value for key, (value, _) in told.items()}}.items():
        line = tomli_w.dumps({key: value}).strip()
        if isinstance(value, dict):
            line = f"{key} = {{ {', '.join(_keys(value, {}))} }}"
        origin = f"  # {_comment(told[key][1])}" if key in told else ""
        lines.append(f"{line:<31}{origin}" if origin else line)
    return lines


def _comment(text: str) -> str:
    return re.sub(r"\s+", " ", shown(text, 300))
