"""Where the nodes of a network stand: in figures, on the page and in NetAnim."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyorch.config.topology import Topology

Place = tuple[float, float]


def layout(network: Topology) -> dict[int, Place]:
    """Return where to draw each node, in a field about 1.7 wide and 1 high.

    Switches lie in layers by their distance from hosts; where a link joins two of a layer, and
    there are more than two, all lie on a circle. Hosts lie below, or outside; those of a switch
    are neighbours in the result.
    """
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(range(len(network.names)))
    graph.add_edges_from(zip(network.a.tolist(), network.b.tolist(), strict=True))
    hosts = set(network.hosts.tolist())
    switches = [node for node in graph if node not in hosts]
    layers = dict.fromkeys(switches, 0)  # also of those without a way to a host
    for layer, nodes in enumerate(nx.bfs_layers(graph, hosts)):
        layers |= {node: layer - 1 for node in nodes if layer}
    within = any(a in layers and layers[a] == layers.get(b) for a, b in graph.edges)
    if within and len(switches) > 2:
        places = _circle(switches, graph)
        outward = dict(places)
    else:
        places = _rows(switches, layers)
        outward = dict.fromkeys(places, (0.0, -1.0))
    for switch in switches:
        own = [node for node in graph[switch] if node in hosts]
        places |= _beside(places[switch], outward[switch], own)
    return places | _beside((0.0, 0.0), (0.0, -1.0), sorted(hosts - places.keys()))


def _circle(switches: Sequence[int], graph: Any) -> dict[int, Place]:
    """Around a circle, from one switch to a neighbour where there is one left."""
    order = [switches[0]]
    while len(order) < len(switches):
        left = [node for node in switches if node not in order]
        near = [node for node in graph[order[-1]] if node in left]
        order.append((near or left)[0])
    step = 2 * math.pi / len(order)
    angles = [math.pi / 2 + step / 2 - number * step for number in range(len(order))]
    return {
        node: (0.46 * math.cos(angle), 0.36 * math.sin(angle))
        for node, angle in zip(order, angles, strict=True)
    }


def _rows(switches: Sequence[int], layers: Mapping[int, int]) -> dict[int, Place]:
    places = {}
    height = max(layers.values(), default=0)
    for layer in range(height + 1):
        row = [node for node in switches if layers[node] == layer]
        for number, node in enumerate(row):
            x = (number + 0.5) / len(row) - 0.5
            places[node] = (1.5 * x, 0.8 * layer / max(height, 1) - (0.4 if height else 0.0))
    return places


def _beside(switch: Place, outward: Place, hosts: Sequence[int]) -> dict[int, Place]:
    size = math.hypot(*outward) or 1.0
    along = (outward[0] / size, outward[1] / size)
    across = (-along[1], along[0])
    gap = min(0.12, 0.30 / max(len(hosts), 1))
    places = {}
    for number, host in enumerate(hosts):
        shift = (number - (len(hosts) - 1) / 2) * gap
        places[host] = (
            switch[0] + 0.2 * along[0] + shift * across[0],
            switch[1] + 0.2 * along[1] + shift * across[1],
        )
    return places
