"""What is written: the network, flows and some settings of a run; and what no format can say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sized
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pyorch.base.fields import NEVER
from pyorch.network.topology import Topology
from pyorch.traffic.base import POINT, Flows


@dataclass(frozen=True)
class Scene:
    """A run. kind: of its topology. control: short name of its congestion control, "" for none.

    duration: ps. flow_control: short names. settings: values of keys, defaults among them, by
    section, of hosts, ports and schemes, as files write them. given: the keys that the run sets.
    losses: shares of frames that ports lose, by their names. nodes: other settings of single nodes.
    """

    network: Topology
    flows: Flows
    kind: str
    duration: int
    control: str = ""
    flow_control: tuple[str, ...] = ()
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    given: frozenset[tuple[str, str]] = frozenset()
    losses: Mapping[str, float] = field(default_factory=dict)
    nodes: int = 0


@dataclass
class Written:
    """Files by name, and what they do not say."""

    files: dict[str, str] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)


def up_links(network: Topology) -> list[int]:
    """Return the links that have not failed from the start."""
    return [link for link in range(len(network.a)) if link not in network.failed_links]


def finite(flows: Flows) -> list[int]:
    """Return the flows that end."""
    ends: list[int] = np.flatnonzero(flows.sizes > 0).tolist()
    return ends


def waits_of(flows: Flows) -> dict[int, list[tuple[int, int]]]:
    """Return what each flow waits for: (flow, delay [ps]); those with points are left out."""
    found: dict[int, list[tuple[int, int]]] = {}
    if flows.waits is None:
        return found
    columns = (flows.waits.flows, flows.waits.after, flows.waits.delays)
    for flow, after, delay in zip(*(column.tolist() for column in columns), strict=True):
        found.setdefault(flow, []).append((after, delay))
    pointed = {flow for flow, of in found.items() if any(after >= POINT for after, _ in of)}
    return {flow: of for flow, of in found.items() if flow < POINT and flow not in pointed}


def _others(some: Sized | None) -> int:
    return 0 if some is None else len(some)


def left_out(scene: Scene, *, paths: bool, classes: bool) -> Iterator[str]:
    """Yield what hardly a format can say. paths, classes: whether this one can."""
    flows, network = scene.flows, scene.network
    endless = int((flows.sizes == 0).sum())
    pointed = 0 if flows.waits is None else int(flows.waits.points)
    counts = (
        (endless, "flows without an end"),
        (int((flows.stops != NEVER).sum()), "flows that stop at a time: they end when they end"),
        (int((flows.rates > 0).sum()), "flows with a cap on their rate: it is missing"),
        (int((flows.windows > 0).sum()), "flows with a window: it is missing"),
        (len(flows.on_off), "flows that send in bursts: they send without a gap"),
        (0 if paths else len(flows.paths), "flows with a path: they take any"),
        (len(flows.ack_paths) + len(flows.ack_reverse), "flows whose ACKs have a path: any"),
        (_others(flows.nics), "flows by another NIC: by their own"),
        (_others(flows.connections), "flows on the connection of another: on their own"),
        (pointed, "points for which flows wait, as of collectives: these flows do not wait"),
        (0 if classes else len(set(flows.classes.tolist())) - 1, "further traffic classes"),
        (sum(1 for one in network.failures if one[1] > 0), "links that fail during the run"),
    )
    yield from (f"{count:,} {what}" for count, what in counts if count > 0)
    if network.server_size > 1 or network.scale_up is not None:
        domain = "" if network.scale_up is None else ", and a scale-up domain"
        yield f"servers: hosts_per_server = {network.server_size}{domain}"
