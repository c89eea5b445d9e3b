"""Connection matrix, and fat-tree, as htsim reads them."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from pyorch.network.topology import HOST, Topology
from pyorch.writers.scenes import Scene, Written, finite, left_out, waits_of

MOST_SIZE = 2**31 - 1
"""Largest connection that htsim reads [bytes]."""


def write(scene: Scene) -> Written:
    """Return flows.cm, and network.topo of a fat-tree; hosts are called by their numbers."""
    network, flows = scene.network, scene.flows
    found = Written(left_out=list(left_out(scene, paths=False, classes=False)))
    hosts = {node: place for place, node in enumerate(network.hosts.tolist())}
    chosen = [flow for flow in finite(flows) if flows.sizes[flow] <= MOST_SIZE]
    if large := len(finite(flows)) - len(chosen):
        found.left_out.append(f"{large:,} flows of more than {MOST_SIZE:,} B, its largest")
    triggers, fired = _triggers(scene, set(chosen), found)
    rows = []
    for number, flow in enumerate(chosen, 1):
        ends = f"{hosts[int(flows.src[flow])]}->{hosts[int(flows.dst[flow])]} id {number}"
        begin = f"trigger {triggers[flow]}" if flow in triggers else f"start {flows.starts[flow]}"
        fires = f" recv_done_trigger {fired[flow]}" if flow in fired else ""
        rows.append(f"{ends} {begin} size {flows.sizes[flow]}{fires}")
    counts: dict[int, int] = defaultdict(int)
    for trigger in fired.values():
        counts[trigger] += 1
    ends_ = [
        f"trigger id {trigger} " + (f"barrier count {count}" if count > 1 else "oneshot")
        for trigger, count in sorted(counts.items())
    ]
    head = [f"Nodes {len(hosts)}", f"Connections {len(rows)}", f"Triggers {len(ends_)}"]
    found.files["flows.cm"] = "\n".join([*head, *rows, *ends_]) + "\n"
    tree = _fat_tree(scene)
    if tree is None:
        whole = "with links that failed, or of several rates, or delays of no whole ns"
        this = f"one {whole}" if scene.kind == "fat_tree" else scene.kind
        found.left_out.append(f"the network: it has whole fat-trees only, and this is {this}")
    else:
        found.files["network.topo"] = tree
    found.left_out.append("settings of schemes and switches: they are options of its programs")
    return found


def _triggers(
    scene: Scene, chosen: set[int], found: Written
) -> tuple[dict[int, int], dict[int, int]]:
    """Return the trigger that each flow waits for, and that each sets off.

    A flow sets off one trigger only: where others wait for more, they are listed and do not wait.
    """
    sets: dict[frozenset[int], int] = {}
    triggers: dict[int, int] = {}
    fired: dict[int, int] = {}
    lost = 0
    for flow, of in waits_of(scene.flows).items():
        after = frozenset(other for other, _ in of)
        plain = not any(delay for _, delay in of) and int(scene.flows.starts[flow]) == 0
        free = after in sets or not after & fired.keys()
        if flow not in chosen or not after <= chosen or not plain or not free:
            lost += flow in chosen
            continue
        trigger = sets.setdefault(after, len(sets) + 1)
        triggers[flow] = trigger
        fired |= dict.fromkeys(after, trigger)
    if lost:
        what = "flows wait in a way that triggers cannot say: they start at their own times"
        found.left_out.append(f"{lost:,} {what}")
    return triggers, fired


def _fat_tree(scene: Scene) -> str | None:
    """Return the network as tiers; None if it is no fat-tree of equal switches."""
    network = scene.network
    if scene.kind != "fat_tree" or network.nic_size > 1 or network.failed_links:
        return None
    k = round((4 * len(network.hosts)) ** (1 / 3))
    half = k // 2
    lines = [f"Nodes {len(network.hosts)}", "Tiers 3", f"Podsize {half * half}"]
    for tier, (down, up) in enumerate(((half, half), (half, half), (k, 0))):
        speed = _speed(network, tier)
        if speed is None:
            return None
        lines += [f"Tier {tier}", f"Downlink_speed_Gbps {speed[0]}", f"Radix_Down {down}"]
        lines += [f"Radix_Up {up}"] if up else []
        lines += [f"Downlink_Latency_ns {speed[1]}"]
    return "\n".join(lines) + "\n"


def _speed(network: Topology, tier: int) -> tuple[int, int] | None:
    """Return rate [Gbps] and delay [ns] of the links below a tier; None unless whole and equal."""
    above = ("edge", "agg", "core")[tier]
    ends = np.array([name.startswith(above) for name in network.names])
    lower = network.kinds == HOST
    if tier:
        below = ("edge", "agg")[tier - 1]
        lower = np.array([name.startswith(below) for name in network.names])
    links = (ends[network.a] & lower[network.b]) | (ends[network.b] & lower[network.a])
    speeds = set(zip(network.rates[links].tolist(), network.delays[links].tolist(), strict=True))
    rate, delay = speeds.pop() if len(speeds) == 1 else (1, 1)
    return None if rate % 10**9 or delay % 1000 else (rate // 10**9, delay // 1000)
