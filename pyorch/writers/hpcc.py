"""Topology, flows and configuration as the HPCC simulator reads them."""

from __future__ import annotations

from pyorch.base.fields import NEVER
from pyorch.network.topology import HOST
from pyorch.readers.hpcc_config import CONTROLS
from pyorch.writers.scenes import Scene, Written, finite, left_out, up_links, waits_of

_NS = 1000
_SECOND = 10**12


def write(scene: Scene) -> Written:
    """Return topology.txt, flow.txt and config.txt; nodes are called by their numbers."""
    network, flows = scene.network, scene.flows
    links = up_links(network)
    switches = [str(node) for node, kind in enumerate(network.kinds.tolist()) if kind != HOST]
    lines = [f"{len(network.names)} {len(switches)} {len(links)}", " ".join(switches)]
    fractions = 0
    for link in links:
        delay = int(network.delays[link])
        fractions += delay % _NS != 0
        spelled = f"{delay}ps" if delay % _NS else f"{delay // _NS}ns"
        lines.append(f"{network.a[link]} {network.b[link]} {network.rates[link]}bps {spelled} 0")
    order = sorted(finite(flows), key=lambda flow: int(flows.starts[flow]))
    rows = [
        f"{flows.src[flow]} {flows.dst[flow]} {flows.classes[flow]} 100 {flows.sizes[flow]} "
        f"{_seconds(int(flows.starts[flow]))}"
        for flow in order
    ]
    found = Written(
        {
            "topology.txt": "\n".join(lines) + "\n",
            "flow.txt": "\n".join([str(len(rows)), *rows]) + "\n",
            "config.txt": _config(scene),
        },
        list(left_out(scene, paths=False, classes=True)),
    )
    if waiting := len(waits_of(flows)):
        found.left_out.append(f"{waiting:,} flows that wait for others: they start at once")
    if fractions:
        found.left_out.append(f"{fractions:,} delays are no whole ns, its unit of time: it rounds")
    if scene.flow_control != ("pfc",):
        found.left_out.append(f"flow control: it has PFC, not {', '.join(scene.flow_control)}")
    if scene.control and scene.control not in CONTROLS.values():
        found.left_out.append(f"congestion control {scene.control}: it has none of this name")
    found.left_out.append(
        "parameters of schemes, buffers, headers: config.txt has the mode and the payload alone; "
        "add KMIN_MAP, KMAX_MAP and PMAX_MAP with each rate of a link, which that simulator needs"
    )
    return found


def _seconds(picoseconds: int) -> str:
    """Return a time in seconds with all of its digits."""
    digits = f"{picoseconds % _SECOND:012}".rstrip("0")
    return f"{picoseconds // _SECOND}.{digits or '0'}"


def _config(scene: Scene) -> str:
    mode = next((mode for mode, name in CONTROLS.items() if name == scene.control), None)
    last = max((stop for stop in scene.flows.stops.tolist() if stop != NEVER), default=0)
    lines = [
        f"ENABLE_QCN {1 if mode else 0}",
        *([f"CC_MODE {mode}"] if mode else []),
        f"PACKET_PAYLOAD_SIZE {scene.payload}",
        "TOPOLOGY_FILE topology.txt",
        "FLOW_FILE flow.txt",
        f"SIMULATOR_STOP_TIME {_seconds(max(scene.duration, last))}",
    ]
    return "\n".join(lines) + "\n"
