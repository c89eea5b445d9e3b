"""Base round-trip times of the flows of a case, and parameters that are below them."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from pyorch.base.units import rounded_time
from pyorch.network.topology import SWITCH, Topology
from pyorch.remarks.cases import Case, Cases, Found
from pyorch.remarks.layers import Floats, Layers, Numbers
from pyorch.setting.attributes import number
from pyorch.sizing.capacity import frames

if TYPE_CHECKING:
    from pyorch.traffic.base import Flows

QUEUE_PAIR, HOSTS, SWITCHES = "ns3::rdma::QueuePair", "ns3::rdma::Host", "ns3::lossless::Switch"
WINDOW_CONTROL = "ns3::rdma::WindowControl"
TIMELY, SWIFT = "ns3::timely::Timely", "ns3::swift::Swift"
_PS_BITS = 8e12
"""Bits of a byte times picoseconds of a second."""
MOST_PAYLOAD = 1 << 30
"""Larger than any packet [B]."""
SLACK = 0.05
"""Share of the line's rate that windows may leave: HPCC aims at 95 %."""
MOST_PATHS = 1000
"""Flows on fixed paths whose round trips are computed."""


@dataclass(frozen=True)
class Wire:
    """What the time on a path depends on: bytes on the wire of a frame and its ACK, and times [ps].

    payload: of the largest first packets of flows. in_hosts: in both hosts, of a frame and its ACK.
    in_switch: in each switch, one way.
    """

    payload: int
    frame: int
    ack: int
    in_hosts: int
    in_switch: int

    @classmethod
    def of(cls, cases: Cases, case: Case, largest: int) -> Wire:
        """Return those of a case; of nodes that differ the shortest. largest: payload of a flow."""
        sizes = frames(cases.types, case.setting.attributes)
        queue_pair = cases.section(case, QUEUE_PAIR) or {}
        latency = _shortest(cases, case, HOSTS, "Latency")
        payload = min(sizes.payload, largest)
        return cls(
            payload=payload,
            frame=max(payload + sizes.header, sizes.minimum) + sizes.overhead,
            ack=int(number(queue_pair.get("AckSize", str(sizes.minimum)))) + sizes.overhead,
            in_hosts=3 * latency + _shortest(cases, case, HOSTS, "AckDelay"),
            in_switch=_shortest(cases, case, SWITCHES, "Latency"),
        )

    def on_links(self, network: Topology) -> tuple[Floats, Floats]:
        """Return the time of a frame and that of an ACK on each link [ps], both (links,)."""
        there, back = (
            network.delays + _PS_BITS * size / network.rates for size in (self.frame, self.ack)
        )
        return there, back


def _shortest(cases: Cases, case: Case, type_name: str, name: str) -> int:
    """Return the shortest time [ps] that nodes have for an attribute; 0 if it is unknown."""
    common = (cases.section(case, type_name) or {}).get(name, "0ps")
    own = (entry.attributes.get(type_name, {}).get(name, common) for entry in case.setting.nodes)
    return int(min(map(number, (common, *own))))


@dataclass(frozen=True)
class Trips:
    """Base round-trip times, at least, of the flows with full frames; all arrays (pairs,).

    src, dst: hosts. times: [ps], with wire.in_hosts. switches: number on the path.
    """

    wire: Wire
    src: Numbers
    dst: Numbers
    times: Floats
    switches: Numbers


@dataclass
class RoundTrips:
    """The round-trip times of cases; those of the same flows are computed once."""

    cases: Cases
    _layers: dict[int, Layers | None] = field(default_factory=dict)
    _known: dict[Hashable, Trips | None] = field(default_factory=dict)

    def at_most(self, case: Case) -> float:
        """Return a time [ps] that no round trip on shortest paths exceeds."""
        network = case.network
        wire = Wire.of(self.cases, case, MOST_PAYLOAD)
        links = int((network.kinds == SWITCH).sum()) + 1
        both = sum(float(times.max()) for times in wire.on_links(network))
        return links * (both + 2 * wire.in_switch) + wire.in_hosts

    def of(self, case: Case) -> Trips | None:
        """Return those of a case; None if there are none, or too many to compute."""
        flows = self.cases.flows(case)
        network = case.network
        if not flows or network.has_direct_links:
            return None
        largest = MOST_PAYLOAD if (flows.sizes == 0).any() else int(flows.sizes.max())
        wire = Wire.of(self.cases, case, largest)
        routed = frozenset(route.dst for route in case.setting.routes)
        key = id(flows), id(network), wire, routed
        if key not in self._known:
            self._known[key] = self._computed(network, flows, wire, routed)
        return self._known[key]

    def _computed(
        self, network: Topology, flows: Flows, wire: Wire, routed: Iterable[str]
    ) -> Trips | None:
        """Compute them; flows whose paths a [[route]] may change are left out."""
        if id(network) not in self._layers:
            self._layers[id(network)] = Layers.of(network)
        layers = self._layers[id(network)]
        if layers is None:
            return None
        src, dst = (ends.astype(np.int64) for ends in flows.ends_on_network(network))
        full = (src != dst) & ((flows.sizes == 0) | (flows.sizes >= wire.payload))
        pinned = [flow for flow in flows.paths if full[flow]][:MOST_PATHS]
        diverted = [network.numbers[name] for name in routed]
        full[list(flows.paths) + list(flows.ack_paths)] = False
        full &= ~np.isin(network.ends[src], diverted) & ~np.isin(network.ends[dst], diverted)
        pairs = np.unique(np.stack([src[full], dst[full]]), axis=1)
        found = [_on_shortest(layers, pairs, wire)]
        found += [_on_path(network, flows.paths[flow].tolist(), wire) for flow in pinned]
        rows = np.concatenate(found, axis=1)
        rows = rows[:, np.isfinite(rows[2])]
        if not rows.size:
            return None
        one, other, switches = rows[[0, 1, 3]].astype(np.int64)
        return Trips(wire, one, other, rows[2], switches)


def _on_shortest(layers: Layers, pairs: Numbers, wire: Wire) -> Floats:
    """Return source, destination, time [ps] and switches of flows on shortest paths, (4, pairs)."""
    network = layers.network
    there, back = wire.on_links(network)
    src, dst = pairs
    ends = layers.edge_of(src), layers.edge_of(dst)
    between = layers.least(there + wire.in_switch)[ends]
    between = between + layers.least(back + wire.in_switch)[ends[::-1]] + 2 * wire.in_switch
    access = network.at_ends(there + back)  # switches are not asked
    times = access[src] + between + access[dst] + wire.in_hosts
    return np.stack([src, dst, times, layers.hops[ends] + 1])


def _on_path(network: Topology, path: list[int], wire: Wire) -> Floats:
    """Return the same of a flow on a fixed path, which its ACKs take backwards, (4, 1)."""
    there, back = wire.on_links(network)
    links = [network.links[port] for port in network.egresses(path)]
    switches = len(path) - 2
    time = (there + back)[links].sum() + 2 * switches * wire.in_switch + wire.in_hosts
    return np.array([[path[0]], [path[-1]], [time], [switches]])


def of_round_trips(cases: Cases) -> Iterator[Found]:
    """Parameters that are below the base round trip of a flow's path."""
    trips = RoundTrips(cases)
    for case in cases.every:
        limits = [*_timeouts(cases, case), *_given(cases, case), *_timely(cases, case)]
        most = trips.at_most(case)
        limits = [limit for limit in limits if limit.time <= most]
        swift = cases.section(case, SWIFT) if _controls(cases, case, SWIFT) else None
        found = trips.of(case) if limits or swift else None
        if found is None:
            continue
        yield from (one for limit in limits for one in limit.check(case, found))
        if swift:
            yield from _swift(cases, case, swift, found)


@dataclass(frozen=True)
class Limit:
    """A parameter [ps] that must be above the base round trip of every flow.

    slack: share of the round trip by which it may be lower. Of several with one topic the gravest
    is said; a note is the least grave.
    """

    key: str
    time: float
    harm: str
    cure: str
    label: str = "warning"
    slack: float = 0.0
    topic: str = ""

    def check(self, case: Case, trips: Trips) -> Iterator[Found]:
        """Yield what is wrong with it, with the longest round trip of the flows."""
        longest = int(trips.times.argmax())
        base = float(trips.times[longest])
        if self.time > base * (1 - self.slack):
            return
        what = (
            f"{self.key} {rounded_time(int(self.time))} is not above {_base(case, trips, longest)}"
        )
        topic, gravity = self.topic or self.key, base / self.time if self.label == "warning" else 0
        yield Found(topic, case, f"{what}: {self.harm}", self.cure, gravity, self.label)


def _base(case: Case, trips: Trips, pair: int) -> str:
    """A base round trip in words."""
    network = case.network
    src, dst = (network.names[network.far(int(end[pair]))] for end in (trips.src, trips.dst))
    time = rounded_time(int(trips.times[pair]))
    return f"the base round trip of {time} from {src} to {dst} (delays, a frame and its ACK)"


def _timeouts(cases: Cases, case: Case) -> Iterator[Limit]:
    queue_pair = cases.section(case, QUEUE_PAIR) or {}
    if queue_pair.get("Retransmit", "None") == "None":
        return
    exponent = int(number(queue_pair.get("LocalAckTimeout", "0")))
    for name in ("LocalAckTimeout" if exponent else "Timeout", "ShortTimeout"):
        time = number(queue_pair.get(name, "0ps"))
        if name == "LocalAckTimeout":
            time = 4_096_000 << exponent
        if time > 0:
            harm = "frames that were not lost are sent again"
            cure = "set it above that by as much as queues and pauses may hold a frame up"
            yield Limit(cases.key(QUEUE_PAIR, name), time, harm, cure)


def _controls(cases: Cases, case: Case, type_name: str) -> bool:
    return cases.is_of(case.setting.congestion_control, type_name)


def _given(cases: Cases, case: Case) -> Iterator[Limit]:
    """A base round-trip time given for all flows, from which windows are computed."""
    control = case.setting.congestion_control
    if not _controls(cases, case, WINDOW_CONTROL):
        return
    time = number((cases.section(case, control) or {}).get("BaseRtt", "0ps"))
    if time > 0:
        harm = "windows are too small for the path, and a flow alone gets that share of its line"
        cure = "leave it out for the base round trip of each flow's path"
        yield Limit(cases.key(control, "BaseRtt"), time, harm, cure, slack=SLACK)


def _timely(cases: Cases, case: Case) -> Iterator[Limit]:
    control = case.setting.congestion_control
    if not _controls(cases, case, TIMELY):
        return
    values = cases.section(case, control) or {}
    high, low = (number(values.get(name, "0ps")) for name in ("HighRtt", "LowRtt"))
    keys = {name: cases.key(control, name) for name in ("HighRtt", "LowRtt", "MinRtt")}
    cure = f'set {keys["LowRtt"]} and {keys["HighRtt"]} above it, and {keys["MinRtt"]} = "0us"'
    harm = "every measured round trip cuts the rate, on an idle path, too"
    yield Limit(keys["HighRtt"], high, harm, cure, topic=control)
    harm = "no round trip is short enough to raise the rate whatever its gradient"
    if low > 0:
        yield Limit(keys["LowRtt"], low, harm, cure, "note", topic=control)


def _swift(cases: Cases, case: Case, values: dict[str, str], trips: Trips) -> Iterator[Found]:
    """Targets of Swift that an idle path exceeds with the window that fills it."""
    control = case.setting.congestion_control
    endpoint = number(values["EndpointTarget"])
    delays = trips.times - trips.wire.in_hosts
    targets = np.array([_target(values, *pair) for pair in _windows(case, trips, values)])
    pair = int((delays - targets).argmax())
    if delays[pair] >= targets[pair]:
        key = cases.key(control, "BaseTarget")
        hops = int(trips.switches[pair])
        what = f"Swift's target is {rounded_time(int(targets[pair]))} with the window that fills "
        what += f"the path ({key} + {hops} hop_target + its part of flow_range), not above "
        what += f"{_base(case, trips, pair)}: an idle path counts as congested"
        least = delays[pair] - hops * number(values["HopTarget"])
        hint = f"set {key} above {rounded_time(int(least))}"
        yield Found(key, case, what, hint, float(delays[pair] / targets[pair]))
    if trips.wire.in_hosts >= endpoint:
        key = cases.key(control, "EndpointTarget")
        there = rounded_time(trips.wire.in_hosts)
        what = f"{key} {rounded_time(int(endpoint))} is not above the {there} that idle hosts take"
        yield Found(key, case, f"{what}: they count as congested", "set it above that")


def _windows(case: Case, trips: Trips, values: dict[str, str]) -> Iterator[tuple[float, int]]:
    """Yield the window [packets] that fills the path of each pair, and its switches."""
    network = case.network
    rates = network.at_ends(network.rates.astype(np.float64))
    packets = np.ceil(rates[trips.src] * trips.times / _PS_BITS / trips.wire.frame)
    packets = np.clip(packets, number(values["LeastWindow"]), number(values["MostWindow"]))
    yield from zip(packets.tolist(), trips.switches.tolist(), strict=True)


def _target(values: dict[str, str], window: float, switches: int) -> float:
    """Return Swift's target of the fabric's delay [ps] with a window [packets]."""
    least, most = (1 / math.sqrt(number(values[f"Flow{end}Window"])) for end in ("Least", "Most"))
    scale = number(values["FlowRange"]) * (1 / math.sqrt(window) - most) / (least - most)
    base = number(values["BaseTarget"]) + switches * number(values["HopTarget"])
    return base + min(max(scale, 0.0), number(values["FlowRange"]))
