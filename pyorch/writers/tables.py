"""GraphML or a CSV of links, and a CSV of messages: what pyorch reads back as it was."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Sequence

from pyorch.base.lazy import nx
from pyorch.base.units import format_rate, format_time
from pyorch.network.topology import HOST, Topology
from pyorch.writers.scenes import Scene, Written, finite, left_out, up_links, waits_of


def graphml(scene: Scene) -> Written:
    """Return network.graphml, with the role of nodes, rate and delay of links; and messages.csv."""
    network = scene.network
    graph = nx.MultiGraph() if network.bundles else nx.Graph()
    for name, kind in zip(network.names, network.kinds.tolist(), strict=True):
        graph.add_node(name, role="host" if kind == HOST else "switch")
    for number, (a, b, rate, delay) in enumerate(_links(scene)):
        key = {"key": number} if network.bundles else {}  # the id of an edge, which is its own
        graph.add_edge(a, b, **key, rate=rate, delay=delay)
    stream = io.BytesIO()
    nx.write_graphml(graph, stream)
    return _with_messages(scene, "network.graphml", stream.getvalue().decode())


def csv(scene: Scene) -> Written:
    """Return links.csv and messages.csv."""
    lines = ["a,b,rate,delay", *(",".join(link) for link in _links(scene))]
    found = _with_messages(scene, "links.csv", "\n".join(lines) + "\n")
    network = scene.network
    degree = Counter(end for a, b, _, _ in _links(scene) for end in (a, b))
    hosts = {network.names[host] for host in network.hosts.tolist()}
    if {name for name, count in degree.items() if count == 1} != hosts:
        found.left_out.append("which nodes are hosts: read links.csv with hosts = [...]")
    return found


def _links(scene: Scene) -> list[tuple[str, str, str, str]]:
    network = scene.network
    return [
        (
            network.names[network.a[link]],
            network.names[network.b[link]],
            format_rate(int(network.rates[link])),
            format_time(int(network.delays[link])),
        )
        for link in up_links(network)
    ]


def _spelled(network: Topology, path: Sequence[int]) -> str:
    """Return a path by names, each link by its own."""
    ends = [network.end_names[neighbour] for _, neighbour in network.egresses(path)]
    return " > ".join([network.names[path[0]], *ends])


def _with_messages(scene: Scene, name: str, text: str) -> Written:
    flows, network = scene.flows, scene.network
    waits = waits_of(flows)
    lost = 0
    waiting: dict[int, tuple[str, int]] = {}
    listed = set(finite(flows))
    for flow, of in waits.items():
        delays = {delay for _, delay in of}
        if len(delays) == 1 and {after for after, _ in of} <= listed:
            waiting[flow] = (" ".join(f"m{after}" for after, _ in of), delays.pop())
        else:
            lost += 1
    columns = ["src", "dst", "size", "start_ps", "class"]
    columns += ["id", "after", "delay_ps"] if waiting else []
    columns += ["path"] if flows.paths else []
    rows = [",".join(columns)]
    for flow in sorted(listed):
        cells = [network.names[flows.src[flow]], network.names[flows.dst[flow]]]
        cells += [str(flows.sizes[flow]), str(flows.starts[flow]), str(flows.classes[flow])]
        if waiting:
            after, delay = waiting.get(flow, ("", 0))
            cells += [f"m{flow}", after, str(delay) if after else ""]
        if flows.paths:
            path = flows.paths.get(flow)
            cells.append("" if path is None else _spelled(network, path.tolist()))
        rows.append(",".join(cells))
    found = Written({name: text, "messages.csv": "\n".join(rows) + "\n"})
    found.left_out += left_out(scene, paths=True, classes=True)
    if lost:
        found.left_out.append(f"{lost:,} flows wait with several delays: they start at once")
    found.left_out.append("settings of schemes and switches: they are in the experiment file")
    return found
