"""What the flows of a plan ask of its network and of this machine, before anything runs.

Flows of the first seed, on the shortest paths at the start -> bytes and packets on each egress ->
loads of the tiers, packet-hops -> CPU time, by the speed of finished runs on this machine.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pyorch.base.units import format_time
from pyorch.remarks.cases import Case, Cases
from pyorch.remarks.layers import Floats, Layers
from pyorch.remarks.offered import MOST_HOSTS, carried_by, egresses, rates_of
from pyorch.sizing.capacity import frames

if TYPE_CHECKING:
    from pyorch.plan import RunSpec
    from pyorch.setting.attributes import Catalogue
    from pyorch.setting.experiment import Experiment
    from pyorch.traffic.base import Flows

USUAL_SPEED = 0.7e-6
"""CPU time of a packet-hop [s] on machines of this decade, where nothing has run yet."""
START = 0.1
"""CPU time [s] of the start and the end of a run, about."""
REPORT, DRAWING, FOLLOWING = 3.0, 1.0, 0.2e-3
"""CPU time [s] of a report, of each of its figures, and of a flow of a job, about: what it waited
for is followed link by link (ai/model)."""
BASE_MEMORY, FLOW_MEMORY, HOST_MEMORY = 150e6, 800.0, 28e3
"""Memory of a run [B]: of the program, and for each flow and each host (docs/performance.md)."""
_MOST_LOGS = 20
_MOST_TIERS = 4
_FOREVER = 1e-12


@dataclass(frozen=True)
class Demand:
    """What the flows of a setting ask for. flows, payload [B]: of its first seed.

    hops: packets times links. tiers: by the names of their ends without numbers, mean load and the
    highest with its link, shares of the link's rate over the duration; none of flows that wait for
    each other, whose load is what the network makes of it.
    """

    flows: int
    payload: float
    hops: float
    tiers: dict[str, tuple[float, float, str]]
    memory: float

    @property
    def highest(self) -> float:
        """The highest load of a link."""
        return max((most for _, most, _ in self.tiers.values()), default=0.0)

    @property
    def told(self) -> str:
        """The loads in words, the highest first."""
        order = sorted(self.tiers.items(), key=lambda item: -item[1][1])
        parts = [
            f"{name} {100 * mean:.0f} %"
            + (f" (at most {100 * most:.0f} %, {link})" if round(100 * (most - mean)) else "")
            for name, (mean, most, link) in order[:_MOST_TIERS]
        ]
        more = len(order) - _MOST_TIERS
        return ", ".join([*parts, *([f"{more} more"] if more > 0 else [])])


def demands(experiment: Experiment, specs: Sequence[RunSpec]) -> list[tuple[Demand, int]]:
    """Return what different traffics ask for, with their numbers of runs; [] if that is unknown.

    Unknown are flows that would take long to generate, and too large networks.
    """
    cases = Cases.of(experiment, specs)
    found: dict[Hashable, tuple[Demand, int]] = {}
    for case in cases.every:
        key = case.setting.topology, (*case.setting.traffic,), case.setting.run.duration
        if key in found:
            demand, count = found[key]
            found[key] = demand, count + len(case.specs)
            continue
        flows = cases.flows(case)
        made = None if flows is None else _demand(case, flows, cases.types)
        if made is None:
            return []
        found[key] = made, len(case.specs)
    return list(found.values())


def _demand(case: Case, flows: Flows, types: Catalogue | None) -> Demand | None:
    network, duration = case.network, case.setting.run.duration
    if network.has_direct_links:
        return None
    if len(network.attached) > MOST_HOSTS or (layers := Layers.of(network)) is None:
        return None
    sizes = frames(types, case.setting.attributes)
    src, dst = (np.searchsorted(network.attached, end) for end in flows.ends_on_network(network))
    rates = rates_of(layers)
    share = sizes.payload / (sizes.data + sizes.overhead)
    payload = _payload(flows, src, dst, share * rates[: len(network.attached)], duration)
    packets = np.ceil(payload / flows.payloads(sizes.payload))
    on_wire = payload + packets * (sizes.header + sizes.overhead)
    bits, hops = (
        carried_by(layers, _matrix(src, dst, values, len(network.attached)))
        for values in (8 * on_wire, packets)
    )
    return Demand(
        flows=len(flows),
        payload=float(payload.sum()),
        hops=float(hops.sum()),
        tiers={}
        if flows.waits is not None
        else _tiers(layers, bits / rates / max(duration * 1e-12, _FOREVER)),
        memory=BASE_MEMORY + FLOW_MEMORY * len(flows) + HOST_MEMORY * len(network.attached),
    )


def _payload(flows: Flows, src: Any, dst: Any, rates: Floats, duration: int) -> Floats:
    """Return the payload of each flow [B]; endless ones share the links of their hosts.

    rates: of payload on the hosts' links [bit/s].
    """
    sizes: Floats = flows.sizes.astype(np.float64)
    endless = sizes == 0
    if endless.any():
        stops = np.where(flows.stops < 0, duration, np.minimum(flows.stops, duration))
        active = np.maximum(stops - flows.starts, 0) * 1e-12
        share = np.full(len(sizes), np.inf)
        for ends in (src, dst):
            count = np.bincount(ends[endless], minlength=len(rates))
            share = np.minimum(share, rates[ends] / np.maximum(count[ends], 1))
        capped = np.where(flows.rates > 0, np.minimum(share, flows.rates), share)
        sizes = np.where(endless, capped * active / 8, sizes)
    return sizes


def _matrix(src: Any, dst: Any, values: Floats, hosts: int) -> Floats:
    found = np.bincount(src * hosts + dst, values, hosts * hosts).reshape(hosts, hosts)
    return found.astype(np.float64)


def _tiers(layers: Layers, loads: Floats) -> dict[str, tuple[float, float, str]]:
    """Return mean, highest load and its link by tier: names without numbers, else what they are."""
    network, names = layers.network, layers.network.end_names
    own = [
        name.rstrip("0123456789") or ("host" if network.is_host(name) else "switch")
        for name in (end.partition("#")[0] for end in names)
    ]
    links: list[str] = []
    places: dict[str, list[int]] = {}
    for one, other in zip(*(end.tolist() for end in egresses(layers)), strict=True):
        places.setdefault(f"{own[one]} -> {own[other]}", []).append(len(links))
        links.append(f"{names[one]} -> {names[other]}")
    tiers = {}
    for tier, some in places.items():
        most = max(some, key=lambda place: loads[place])
        if loads[most] > 0:
            tiers[tier] = float(loads[some].mean()), float(loads[most]), links[most]
    return tiers


def speed_here(results: Path) -> float | None:
    """Return the CPU time of a packet-hop [s] in the latest runs on this machine; None of none."""
    cpu = hops = 0.0
    for log in _latest(results):
        try:
            told = dict(
                line.removeprefix("# ").split(": ", 1)
                for line in log.read_text(encoding="utf-8").splitlines()
                if line.startswith("# ") and ": " in line
            )
            summary = json.loads((log.parent / "summary.json").read_text(encoding="utf-8"))
            if told["host"].split(" ")[0] == socket.gethostname():
                cpu += float(told["simulate_cpu_s"])
                hops += float(summary["summary"]["data_hops"])
        except (OSError, ValueError, KeyError, TypeError):
            continue  # anything may lie there
    return cpu / hops if hops else None


def _latest(results: Path) -> Iterator[Path]:
    """Yield the logs of some runs of the studies that ran last."""
    try:
        folders = sorted(results.glob("*/runs"), key=lambda one: -one.stat().st_mtime)[:4]
        for folder in folders:
            logs = (run / "log.txt" for run in folder.iterdir())
            yield from (log for log, _ in zip(logs, range(_MOST_LOGS // 4), strict=False))
    except OSError:
        return


def cpu_text(
    experiment: Experiment, spec: RunSpec, results: Path, times: float, hops: float = 0
) -> str:
    """Return the CPU time of repeats of a run, "about 3 min of CPU time"; "" if it is unknown.

    times: how many, or how much longer one takes. hops: of it, 0: those of its demand.
    """
    if not hops:
        found = demands(experiment, [spec])
        hops = found[0][0].hops if found else 0
    one = START + hops * (speed_here(results) or USUAL_SPEED)
    return f"about {time_text(times * one)} of CPU time" if hops else ""


def cost_text(
    found: Sequence[tuple[Demand, int]], missing: int, speed: float | None, figures: int = 0
) -> str:
    """Return what the missing runs cost, in words.

    speed: CPU time of a packet-hop here [s]. figures: that are drawn behind them.
    """
    runs = sum(count for _, count in found)
    hops = sum(demand.hops * count for demand, count in found) / runs
    memory = max(demand.memory for demand, _ in found)
    one = START + hops * (speed or USUAL_SPEED)
    how = f"{1e6 * speed:.2g} us a hop, measured here" if speed else "nothing has run here yet"
    each = (
        f"{float(f'{hops:.2g}'):,.0f} packet-hops a run, {time_text(one)} and {memory / 1e6:.0f} MB"
    )
    followed = sum(demand.flows * count for demand, count in found if not demand.tiers)
    report = REPORT + figures * DRAWING + followed * FOLLOWING
    drawn = f" and {time_text(report)} for the report" if figures else ""
    return f"{each}; {time_text(one * missing)} of CPU time for {missing:,} to do{drawn} ({how})"


def time_text(seconds: float) -> str:
    """Return a time in words."""
    if seconds >= 90:
        hours, minutes = divmod(round(seconds / 60), 60)
        return f"{hours} h {minutes} min" if hours else f"{minutes} min"
    return format_time(round(float(f"{seconds:.2g}") * 1e12))
