"""Topology, flows and configuration as the HPCC simulator reads them."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from pyorch.base.fields import NEVER, reverse_names
from pyorch.base.units import format_rate, format_time, is_number, parse_bytes, parse_rate
from pyorch.network.topology import HOST
from pyorch.readers.hpcc_config import ACKS, CONTROLS, MAPS, MARKED, keys_of
from pyorch.writers.scenes import Scene, Written, finite, left_out, up_links, waits_of

_NS = 1000
_SECOND = 10**12
_KB = 1000
_OF_MARKS = ("kmin", "kmax", "pmax", "reference_rate", "at")
"""Keys of marking at switches that the three maps say, and two more."""


def write(scene: Scene) -> Written:
    """Return topology.txt, flow.txt and config.txt; nodes are called by their numbers."""
    network, flows = scene.network, scene.flows
    order = sorted(finite(flows), key=lambda flow: int(flows.starts[flow]))
    rows = [
        f"{flows.src[flow]} {flows.dst[flow]} {flows.classes[flow]} 100 {flows.sizes[flow]} "
        f"{_seconds(int(flows.starts[flow]))}"
        for flow in order
    ]
    found = Written(left_out=list(left_out(scene, paths=False, classes=True)))
    switches = [str(node) for node, kind in enumerate(network.kinds.tolist()) if kind != HOST]
    links = _links(scene, found)
    head = [f"{len(network.names)} {len(switches)} {len(links)}", " ".join(switches)]
    found.files["topology.txt"] = "\n".join([*head, *links]) + "\n"
    found.files["flow.txt"] = "\n".join([str(len(rows)), *rows]) + "\n"
    found.files["config.txt"] = "\n".join(_config(scene, found)) + "\n"
    if waiting := len(waits_of(flows)):
        found.left_out.append(f"{waiting:,} flows that wait for others: they start at once")
    return found


def _links(scene: Scene, found: Written) -> list[str]:
    """Return a line for each link, and note what they do not say."""
    network = scene.network
    lines, fractions = [], 0
    for link in up_links(network):
        delay = int(network.delays[link])
        fractions += delay % _NS != 0
        spelled = f"{delay}ps" if delay % _NS else f"{delay // _NS}ns"
        name, neighbour = network.ends_of(link)
        ports = ((name, neighbour), reverse_names(name, neighbour))
        ways = {scene.losses.get(":".join(ends), 0) for ends in ports}
        if len(ways) > 1:
            told = f"the share of frames that {name} - {neighbour} loses in one direction: both"
            found.left_out.append(told)
        ends = f"{network.a[link]} {network.b[link]}"
        lines.append(f"{ends} {network.rates[link]}bps {spelled} {max(ways)}")
    if fractions:
        found.left_out.append(f"{fractions:,} delays are no whole ns, its unit of time: it rounds")
    return lines


def _seconds(picoseconds: int) -> str:
    """Return a time in seconds with all of its digits."""
    digits = f"{picoseconds % _SECOND:012}".rstrip("0")
    return f"{picoseconds // _SECOND}.{digits or '0'}"


def _config(scene: Scene, found: Written) -> list[str]:
    """Return the lines of the configuration, and note what they do not say."""
    mode = next((mode for mode, name in CONTROLS.items() if name == scene.control), None)
    if scene.flow_control != ("pfc",):
        told = ", ".join(scene.flow_control) or "none"
        found.left_out.append(f"flow control: it has PFC, not {told}")
    if scene.control and not mode:
        found.left_out.append(f"congestion control {scene.control}: it has none of this name")
    last = max((stop for stop in scene.flows.stops.tolist() if stop != NEVER), default=0)
    run = {"duration": format_time(max(scene.duration, last))}
    settings = {**scene.settings, "run": run}
    control = scene.control if mode else None
    lines = {"ENABLE_QCN": str(int(mode is not None)), **({"CC_MODE": mode} if mode else {})}
    said: set[tuple[str, str]] = set()
    if control is not None:
        said.add((control, "reference_rate"))
        settings[control] = _of_line_rate(scene, control, found)
    for name, (section, key, form) in keys_of(control).items():
        value = settings.get(section, {}).get(key)
        if value is not None:
            lines[name] = form.write(value)
            said.add((section, key))
            if not _same(form.read(lines[name]), value):
                found.left_out.append(f"{section}.{key} is {value}: {name} {lines[name]} rounds it")
    pair = settings.get("queue_pair", {})
    every = int(pair.get("ack_every", 1))
    lines[ACKS] = str(every if every == 1 else every * parse_bytes(pair["payload_size"]))
    lines |= _window(pair, control, found)
    lines |= {"TOPOLOGY_FILE": "topology.txt", "FLOW_FILE": "flow.txt"}
    lines |= _maps(scene, found)
    said |= {("queue_pair", "window_bdps"), ("queue_pair", "ack_every")}
    said |= {("ecn-marking", key) for key in _OF_MARKS}
    for section, key in sorted(scene.given - said):
        value = settings.get(section, {}).get(key)
        told = f"{section}.{key}" + ("" if value is None else f" = {value}")
        found.left_out.append(f"{told}: its configuration has no key for it")
    if scene.nodes:
        found.left_out.append(f"{scene.nodes} [[node]]: settings of single nodes")
    found.left_out.append("headroom, thresholds of PFC, headers: its program has its own")
    return [f"{name} {value}" for name, value in lines.items()]


def _same(read: object, value: object) -> bool:
    """Whether a value that is read back is the one that was written."""
    one, other = str(read).lower(), str(value).lower()
    return one == other or (is_number(one) and is_number(other) and float(one) == float(other))


def _of_line_rate(scene: Scene, control: str, found: Written) -> dict[str, Any]:
    """Return the values of a congestion control with increases for the line rate of the hosts."""
    values = dict(scene.settings.get(control, {}))
    reference = parse_rate(values.get("reference_rate", "0bps"))
    network = scene.network
    on_hosts = (network.kinds[network.a] == HOST) | (network.kinds[network.b] == HOST)
    rates = sorted(set(network.rates[on_hosts].tolist()))
    if reference and rates:
        for key in ("additive_increase", "hyper_increase"):
            if key in values:
                scaled = round(Fraction(parse_rate(values[key]) * rates[-1], reference))
                values[key] = format_rate(scaled)
        if len(rates) > 1:
            fastest = format_rate(rates[-1])
            found.left_out.append(f"increases go with the line rate: RATE_AI is that at {fastest}")
    return values


def _window(pair: Mapping[str, Any], control: str | None, found: Written) -> dict[str, str]:
    """Return whether senders have a window, and whether it follows their rate."""
    if control in ("hpcc", "dctcp"):
        return {"HAS_WIN": "1", "VAR_WIN": "1"}
    size = float(pair.get("window_bdps", 0)) if control != "timely" else 0.0
    if size not in (0.0, 1.0):
        found.left_out.append(f"queue_pair.window_bdps = {size:g}: HAS_WIN 1 is one BDP")
    return {"HAS_WIN": str(int(size > 0)), "VAR_WIN": "0"}


def _maps(scene: Scene, found: Written) -> dict[str, str]:
    """Return the thresholds of ECN at every rate of a link, all of which it demands."""
    rates = sorted(set(scene.network.rates[up_links(scene.network)].tolist()))
    marks = scene.settings.get("ecn-marking")
    if marks is None:
        if scene.control in MARKED:
            found.left_out.append("no switch marks: KMIN_MAP is the buffer, PMAX_MAP is 0")
        size = scene.settings.get("buffer", {}).get("size", "16MB")
        marks = {"kmin": size, "kmax": size, "pmax": 0}
    if str(marks.get("at", "dequeue")).lower() != "dequeue":
        found.left_out.append(f"ecn-marking.at = {marks['at']}: it marks at dequeue")
    reference = parse_rate(marks.get("reference_rate", "0bps"))
    lines, rounded = {}, 0
    for name, key in zip(MAPS, _OF_MARKS, strict=False):
        pairs = []
        for rate in rates:
            value: object = marks[key]
            if key != "pmax":
                exact = Fraction(parse_bytes(marks[key]) * (rate if reference else 1), _KB)
                exact /= reference or 1
                value = round(exact)
                rounded += value != exact
            pairs.append(f"{rate} {value}")
        lines[name] = " ".join([str(len(rates)), *pairs])
    if rounded:
        found.left_out.append(f"{rounded} thresholds of ECN are no whole KB: they are rounded")
    return lines
