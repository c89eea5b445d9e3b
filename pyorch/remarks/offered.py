"""The mean load that traffic offers, where links carry less, and doubtful keys of it."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

import numpy as np

from pyorch.base.units import format_rate, format_time
from pyorch.remarks.cases import Case, Cases, Found
from pyorch.remarks.layers import Floats, Layers, Numbers
from pyorch.traffic.base import TrafficTable, label_of

MOST_SCENES, MOST_HOSTS = 30, 2000
"""Maximum number of different traffics, and of hosts, for which loads are computed."""
_EXACT = 1 + 1e-9
"""Load that counts as full: rounding adds less."""


def of_doubtful_keys(cases: Cases) -> Iterator[Found]:
    """Keys of traffic that have no effect, or contradict the network."""
    for case in cases.every:
        for number, entry in enumerate(case.setting.traffic):
            for key, why in entry.doubts(case.network):
                what = f"{key!r} of traffic {label_of(entry, number)!r}: {why}"
                yield Found(("doubtful", number, key), case, what, "change it, or leave it out")


def of_offered_loads(cases: Cases) -> Iterator[Found]:
    """Links to which traffic of given loads, or incasts with a period, offer more than their rate.

    Routes of a [[route]] are not followed: such settings are left out.
    """
    known: dict[Hashable, tuple[str, str, float] | None] = {}
    for case in cases.every:
        if case.setting.routes:
            continue
        key = case.setting.topology, (*case.setting.traffic,), case.setting.run.duration
        if key not in known:
            if len(known) >= MOST_SCENES:
                return
            known[key] = _overload(case)
        found = known[key]
        if found is not None:
            what, hint, load = found
            yield Found("offered", case, what, hint, load, "offered")


def _overload(case: Case) -> tuple[str, str, float] | None:
    """Return what is wrong with the loads of a case, what to do, and the largest load."""
    network, duration = case.network, case.setting.run.duration
    if network.several or network.has_direct_links:
        return None
    if len(network.hosts) > MOST_HOSTS or (layers := Layers.of(network)) is None:
        return None
    random = {
        number: offered
        for number, entry in enumerate(case.setting.traffic)
        if (offered := entry.offered(network, duration)) is not None
        and entry.nic == "own"
        and entry.path is None
        and entry.paths is None
    }
    worst: tuple[float, Floats, list[int]] = 0.0, np.zeros(0), []
    carried = {number: carried_by(layers, one.rates) for number, one in random.items()}
    for begin in sorted({one.begin for one in random.values()}):
        active = [number for number, one in random.items() if one.begin <= begin < one.end]
        loads = np.sum([carried[number] for number in active], axis=0) / rates_of(layers)
        if loads.max() > worst[0]:
            worst = float(loads.max()), loads, active
    return _told(layers, case, *worst) if worst[0] > _EXACT else None


def egresses(layers: Layers) -> tuple[Numbers, Numbers]:
    """Return the nodes and their neighbours: from hosts, to hosts, and between switches."""
    network = layers.network
    out = [network.access(end) for end in network.attached.tolist()]
    into = [network.reverse(port) for port in out]
    ports = np.array([*out, *into, *zip(*layers.nodes, strict=True)], dtype=np.int64)
    return ports[:, 0], ports[:, 1]


def rates_of(layers: Layers) -> Floats:
    """Return the rate [bit/s] of each egress, (egresses,)."""
    network = layers.network
    pairs = zip(*(end.tolist() for end in egresses(layers)), strict=True)
    rates: Floats = network.rates[[network.links[pair] for pair in pairs]].astype(np.float64)
    return rates


def carried_by(layers: Layers, rates: Floats) -> Floats:
    """Return what each egress carries [bit/s], (egresses,), of traffic between hosts' ends.

    rates: in the order of `Topology.attached`.
    """
    network = layers.network
    if network.scale_up is not None:
        servers = network.servers[network.attached]
        rates = np.where(servers[:, None] == servers, 0, rates)
    edge, count = layers.edge_of(network.attached), len(layers.paths.edges)
    places = (edge[:, None] * count + edge).ravel()
    matrix = np.bincount(places, rates.ravel(), count * count).astype(np.float64)
    between = layers.loads(matrix.reshape(count, count))
    return np.concatenate([rates.sum(axis=1), rates.sum(axis=0), between])


def _told(
    layers: Layers, case: Case, most: float, loads: Floats, active: Sequence[int]
) -> tuple[str, str, float]:
    network, traffic = layers.network, case.setting.traffic
    fullest, over = int(loads.argmax()), int((loads > _EXACT).sum())
    ends = (network.end_names[int(end[fullest])] for end in egresses(layers))
    rate = format_rate(int(rates_of(layers)[fullest]))
    names = " and ".join(label_of(traffic[number], number) for number in active)
    what = f"{' -> '.join(ends)} gets {100 * most:.0f} % of its {rate} on average from {names}"
    if over > 1:
        what += f", the most of {over:,} links above 100 %"
    full = " and ".join(_full(traffic[number], most) for number in active)
    both = "all of " if len(active) > 2 else "both " if len(active) == 2 else ""
    return what, f"queues grow as long as it lasts: with {both}{full} the link is just full", most


def _full(entry: TrafficTable, most: float) -> str:
    """What of an entry would make a load 1, where it is `most` now."""
    load, interval = getattr(entry, "load", None), getattr(entry, "interval", None)
    if load is None and interval is not None:
        return f"interval = {format_time(round(interval * most))}"
    return f"load = {(load or 0) / most:.2g} (of the sources' links)"
