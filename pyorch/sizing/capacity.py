"""Impossible configurations, by the arithmetic of the shared buffer.

Checks that need attributes missing from the built modules are skipped.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pyorch.base.findings import Findings
from pyorch.base.units import format_bytes, format_rate, format_time
from pyorch.network.topology import SWITCH, Topology
from pyorch.setting.attributes import Catalogue, number, section_of, snake_case, written
from pyorch.sizing.theory import IDEAL, eta_prime, headroom_in_cells, pause_response

if TYPE_CHECKING:
    from pyorch.traffic.base import TrafficTable

Attributes = Mapping[str, Mapping[str, str]]
#: Attributes of the buffer that the arithmetic needs.
_NEEDED = (
    "Size",
    "LossyPool",
    "LosslessClasses",
    "Private",
    "Headroom",
    "Threshold",
    "Xoff",
    "Xon",
)
#: The flow control whose headroom, eta', is computed here; that of others, and what a scheme
#: promises to the upstream, is added up by the modules as they are set up.
PFC = "ns3::pfc::Pfc"
#: Attributes of a type of which the first must be below the second, or at most equal to it, as the
#: modules demand as they are set up.
_ORDERED = (
    ("ns3::gfc::ConceptualGfc", "B0", "Bm", "below"),
    ("ns3::gfc::MultiStageGfc", "B1", "Bm", "below"),
    ("ns3::gfc::TimeBasedGfc", "B0", "Bm", "below"),
    ("ns3::gfc::TimeBasedGfc", "B0", "Buffer", "below"),
    ("ns3::gfc::TimeBasedGfc", "Bm", "Buffer", "at most"),
    ("ns3::timely::Timely", "LowRtt", "HighRtt", "at most"),
    ("ns3::swift::Swift", "FlowLeastWindow", "FlowMostWindow", "below"),
    ("ns3::swift::Swift", "LeastWindow", "MostWindow", "at most"),
    ("ns3::pfc::PfcWatchdog", "Poll", "Detection", "at most"),
    ("ns3::pfc::PfcWatchdog", "Poll", "Restoration", "at most"),
)
#: Attributes of a type whose value needs another one above 0, as the modules demand, too.
_NEEDING = (
    ("ns3::timely::Timely", "Pacing", "Segment", "Segment"),
    ("ns3::sfc::SfcCongestionPoint", "Correction", "Reserve", "Buffer"),
)
#: A rate of a type that must be above 0 and at most that of the slowest link.
_RATES = (("ns3::gfc::MultiStageGfc", "MinRate"),)
#: Used if the modules do not give them: a payload, and the headers of RoCEv2 as counted by other
#: simulators [B].
DEFAULT_PAYLOAD, DEFAULT_HEADER = 1000, 48
#: The buffer of a switch, and its part for lossy classes [B].
DEFAULT_BUFFER, DEFAULT_LOSSY_POOL = 16_000_000, 1_000_000
#: Preamble and gap, and the shortest frame, of Ethernet [B].
DEFAULT_OVERHEAD, MIN_FRAME = 20, 64


@dataclass(frozen=True)
class Frames:
    """Sizes [B] of full data frames and control frames, and how long these take to be obeyed.

    control_delay_ps: at any rate. response: a rule by rate, see `theory.pause_response`; the longer
    time counts. cell: of the buffer; 1: frames take their bytes.
    """

    payload: int
    header: int
    minimum: int
    overhead: int
    control: int
    control_delay_ps: int
    response: str = IDEAL
    cell: int = 1

    @property
    def data(self) -> int:
        """A full data frame [B]."""
        return self.of(self.payload)

    def of(self, payload: int | None) -> int:
        """Return a full data frame [B] with a payload; None: its own."""
        return max((payload or self.payload) + self.header, self.minimum)

    def eta_prime(self, rate: int, delay_ps: int) -> int:
        """Return the lossless headroom [B] of a port; rate in bit/s, delay in ps."""
        sizes = (self.data, self.control, self.overhead)
        demand = eta_prime(rate, delay_ps, *sizes, self.control_delay(rate))
        return headroom_in_cells(demand, self.cell, self.overhead)

    def control_delay(self, rate: int) -> int:
        """Return the time until a control frame is obeyed on a link [ps]; rate in bit/s."""
        return max(self.control_delay_ps, pause_response(self.response, rate))


def frames(
    types: Catalogue | None, attributes: Attributes, entries: Iterable[TrafficTable] = ()
) -> Frames:
    """Return the frame sizes of a run: its own, else the modules' defaults.

    entries: traffic, of which the largest payload counts; by default that of [queue_pair].
    """

    def get(section: str, name: str, otherwise: int) -> int:
        values = section_of(types, attributes, section) if types else None
        return int(number(values[name])) if values and name in values else otherwise

    port = (section_of(types, attributes, "port") if types else None) or {}
    payload = get("queue_pair", "PayloadSize", get("host", "PayloadSize", DEFAULT_PAYLOAD))
    return Frames(
        payload=max((payload, *(entry.payload_size or 0 for entry in entries))),
        header=get("queue_pair", "HeaderSize", DEFAULT_HEADER),
        minimum=get("queue_pair", "MinFrameSize", MIN_FRAME),
        overhead=get("port", "Overhead", DEFAULT_OVERHEAD),
        control=get("port", "ControlFrameSize", MIN_FRAME),
        control_delay_ps=get("port", "ControlDelay", 0),
        response=port.get("PauseResponse", IDEAL),
        cell=get("buffer", "CellSize", 1),
    )


def check_buffer(
    types: Catalogue,
    attributes: Attributes,
    flow_control: Iterable[str],
    network: Topology,
    entries: Iterable[TrafficTable],
    allow_loss: bool,
    findings: Findings,
) -> None:
    """Refuse XON above XOFF, headroom that can lose frames, and a buffer that is too small.

    Headroom is what a chain of flow controls (TypeId names) demands if it has PFC, otherwise none.
    Whatever the chain, a queue of a lossless class must have room for a frame.
    """
    buffer = section_of(types, attributes, "buffer")
    if buffer is None or any(name not in buffer for name in _NEEDED):
        return
    static = buffer["Threshold"] == "Static"
    sizes = {name: int(number(buffer[name])) for name in _NEEDED if name != "Threshold"}
    if static and sizes["Xon"] > sizes["Xoff"]:
        what = f"xon {format_bytes(sizes['Xon'])} is above xoff {format_bytes(sizes['Xoff'])}"
        findings.add(("buffer", "xon"), what, f"at most {format_bytes(sizes['Xoff'])}")
    lossless = sizes["LosslessClasses"].bit_count()
    if not lossless:
        return
    run = frames(types, attributes, entries)
    paused = _has_pfc(types, flow_control)
    ratio = number(buffer.get("HeadroomRatio", "1"))
    if ratio > 1 and paused and not allow_loss:
        what = f"headroom {ratio:g} times over-subscribed can lose frames when many queues pause"
        hint = "leave it out, or set run.allow_loss = true"
        findings.add(("buffer", "headroom_ratio"), what, "1", hint)
    if sizes["Headroom"] and paused and not allow_loss:
        _check_headroom(run, sizes["Headroom"], network, findings)
    links = zip(network.rates.tolist(), network.delays.tolist(), strict=True)
    # Python's integers: a fast link with days of delay needs more than 2^63 B
    demands = [run.eta_prime(*link) if paused else 0 for link in links]
    headroom = [int((sizes["Headroom"] or demand) // ratio) for demand in demands]
    frame = 0 if allow_loss else -(-run.data // run.cell) * run.cell
    _check_commitment(sizes, lossless, headroom, frame, network, findings)


def check_chain(types: Catalogue, chain: Sequence[str], findings: Findings) -> None:
    """Refuse a chain (TypeId names) in which one flow control would take another's frames.

    One that derives from another sends and reads the same ones, and each goes to one member.
    """
    for one, other in itertools.permutations(dict.fromkeys(chain), 2):
        if types.derives(types.by_name[one], other):
            derived, base = map(types.short_name, (one, other))
            what = f"{derived} is a kind of {base}: one would take the frames of the other"
            findings.add(("flow_control",), what, f"{derived} or {base}")


def check_schemes(
    types: Catalogue,
    attributes: Attributes,
    used: Iterable[str],
    network: Topology,
    findings: Findings,
) -> None:
    """Refuse attributes of the schemes in use (TypeId names) that contradict each other.

    Thresholds in the wrong order, a value that needs another, and a rate that no link has.
    """
    for name in dict.fromkeys(used):
        values = section_of(types, attributes, name) or {}
        _check_orders(types, name, values, findings)
        _check_needs(types, name, values, findings)
        for attribute in [rate for type_name, rate in _RATES if type_name == name]:
            rate, slowest = number(values.get(attribute, "1")), int(network.rates.min())
            if not 0 < rate <= slowest:
                path = (types.short_name(name), snake_case(attribute))
                allowed = f"above 0 and at most {format_rate(slowest)}, the rate of a link"
                what = f"{written(types, name, attribute, values[attribute])} is not allowed"
                findings.add(path, what, allowed)


def _check_orders(
    types: Catalogue, name: str, values: Mapping[str, str], findings: Findings
) -> None:
    for type_name, low, high, order in _ORDERED:
        if name != type_name or low not in values or high not in values:
            continue
        below, above = number(values[low]), number(values[high])
        chosen = high == "Bm" and above == 0  # by the module, from the buffer
        if chosen or below < above or (below == above and order == "at most"):
            continue
        top = written(types, name, high, values[high])
        what = f"{written(types, name, low, values[low])} is not {order} {snake_case(high)} {top}"
        findings.add((types.short_name(name), snake_case(low)), what, f"{order} {top}")


def _check_needs(
    types: Catalogue, name: str, values: Mapping[str, str], findings: Findings
) -> None:
    for type_name, attribute, value, needed in _NEEDING:
        if name == type_name and values.get(attribute) == value and not number(values[needed]):
            what = f"{snake_case(attribute)} {value!r} needs {snake_case(needed)}"
            findings.add((types.short_name(name), snake_case(needed)), what, "above 0")


def _has_pfc(types: Catalogue, flow_control: Iterable[str]) -> bool:
    """Whether PFC, or what derives from it, is in a chain."""
    chain = [types.by_name[name] for name in flow_control if name in types.by_name]
    return any(info.name == PFC or types.derives(info, PFC) for info in chain)


def _check_headroom(run: Frames, headroom: int, network: Topology, findings: Findings) -> None:
    """Headroom must be eta' at least on every port of a switch."""
    with_switch = (network.kinds[network.a] == SWITCH) | (network.kinds[network.b] == SWITCH)
    pairs = {(int(network.rates[n]), int(network.delays[n])) for n in np.flatnonzero(with_switch)}
    needed, rate, delay = max((run.eta_prime(*pair), *pair) for pair in pairs)
    if headroom >= needed:
        return
    what = (
        f"headroom {format_bytes(headroom)} can lose frames on a link of {format_rate(rate)} "
        f"and {format_time(delay)}"
    )
    findings.add(
        ("buffer", "headroom"),
        what,
        f"eta' = {needed} B or more; {_formula(run, rate)}",
        "leave it out (or 0B) for eta' on every port, or set run.allow_loss = true",
    )


def _formula(run: Frames, rate: int) -> str:
    return (
        f"eta' = 2*(C*Dprop + {run.data + run.overhead} B) "
        f"+ max(3840 B, C*{format_time(run.control_delay(rate))}) "
        f"+ {run.control + run.overhead} B + {run.data} B"
        + (f", in cells of {run.cell} B" if run.cell > 1 else "")
    )


def _check_commitment(
    sizes: Mapping[str, int],
    lossless: int,
    headroom: list[int],
    frame: int,
    network: Topology,
    findings: Findings,
) -> None:
    """Private parts, headroom (by link) and the lossy pool must fit into every switch's buffer.

    If a frame [B] fits into neither of the first two, it must fit into what they leave.
    """
    per_switch = [0] * len(network.names)
    for ends in (network.a.tolist(), network.b.tolist()):
        for end, size in zip(ends, headroom, strict=True):
            if network.kinds[end] == SWITCH:
                per_switch[end] += lossless * (sizes["Private"] + size)
    fullest = max(range(len(per_switch)), key=lambda n: (per_switch[n], network.kinds[n] == SWITCH))
    committed = per_switch[fullest] + sizes["LossyPool"]
    shared = frame if max(sizes["Private"], min(headroom, default=0)) < frame else 0
    if committed + shared <= sizes["Size"]:
        return
    what = (
        f"size {format_bytes(sizes['Size'])} is over-committed at {network.names[fullest]}: "
        f"private and headroom take {per_switch[fullest]} B, "
        f"the lossy pool {sizes['LossyPool']} B"
    )
    if shared:
        what += f", a frame of a lossless class {frame} B"
        committed += shared
    hint = (
        "raise buffer.size, or lower buffer.lossy_pool, private or the number of lossless classes"
    )
    findings.add(("buffer", "size"), what, f"at least {committed} B", hint)
