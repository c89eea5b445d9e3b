"""Where the nodes of a network stand: in figures, on the page and in NetAnim."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyorch.base.lazy import nx

if TYPE_CHECKING:
    from pyorch.network.topology import Topology

Place = tuple[float, float]

_WIDTH = 1.5
"""Of a row of switches."""
_SHARE = 0.75
"""Of the room from switch to switch that hosts take."""
_LEAST_GAP = 0.008
"""Between hosts of a line."""


def layout(network: Topology) -> dict[int, Place]:
    """Return where to draw each node, in a field about 1.7 wide and 1 high.

    Switches lie in layers by their distance from hosts; where a link joins two of a layer, and
    there are more than two, all lie on a circle. Hosts lie below, or outside; those of a switch
    are neighbours in the result.
    """
    graph = _graph(network)
    hosts = set(network.hosts.tolist())
    layers = layers_of(network)
    switches = list(layers)
    within = any(a in layers and layers[a] == layers.get(b) for a, b in graph.edges)
    if within and len(switches) > 2:
        # around a circle, from one switch to a neighbour where there is one left
        order = [switches[0]]
        while len(order) < len(switches):
            left = [node for node in switches if node not in order]
            near = [node for node in graph[order[-1]] if node in left]
            order.append((near or left)[0])
        step = 2 * math.pi / len(order)
        angles = [math.pi / 2 + step / 2 - number * step for number in range(len(order))]
        places = {
            node: (0.46 * math.cos(angle), 0.36 * math.sin(angle))
            for node, angle in zip(order, angles, strict=True)
        }
        outward, room = dict(places), dict.fromkeys(places, 0.0)
    else:
        places = _rows(switches, layers)
        outward = dict.fromkeys(places, (0.0, -1.0))
        rows = Counter(layers.values())
        room = {switch: _WIDTH / rows[layers[switch]] for switch in switches}
    for switch in switches:
        own = [node for node in graph[switch] if node in hosts]
        places |= _beside(places[switch], outward[switch], own, room[switch])
    return places | _beside((0.0, 0.0), (0.0, -1.0), sorted(hosts - places.keys()))


def layers_of(network: Topology) -> dict[int, int]:
    """Return for each switch how many links are between it and the switch of the nearest host."""
    graph = _graph(network)
    hosts = set(network.hosts.tolist())
    layers = {node: 0 for node in graph if node not in hosts}  # also without a way to a host
    for layer, nodes in enumerate(nx.bfs_layers(graph, hosts)):
        layers |= {node: layer - 1 for node in nodes if layer}
    return layers


def _graph(network: Topology) -> Any:

    graph = nx.Graph()
    graph.add_nodes_from(range(len(network.names)))
    graph.add_edges_from(zip(network.a.tolist(), network.b.tolist(), strict=True))
    return graph


def _rows(switches: Sequence[int], layers: Mapping[int, int]) -> dict[int, Place]:
    places = {}
    height = max(layers.values(), default=0)
    for layer in range(height + 1):
        row = [node for node in switches if layers[node] == layer]
        for number, node in enumerate(row):
            x = (number + 0.5) / len(row) - 0.5
            places[node] = (_WIDTH * x, 0.8 * layer / max(height, 1) - (0.4 if height else 0.0))
    return places


def _beside(
    switch: Place, outward: Place, hosts: Sequence[int], room: float = 0.0
) -> dict[int, Place]:
    """Hosts in a line across the way outwards, in several where they find no room in one.

    room: from this switch to the next of its row; 0: none is in the way.
    """
    size = math.hypot(*outward) or 1.0
    along = (outward[0] / size, outward[1] / size)
    across = (-along[1], along[0])
    columns = len(hosts)
    gap = min(0.12, 0.30 / max(columns, 1))
    if room:
        columns = max(1, min(columns, 1 + int(_SHARE * room / _LEAST_GAP)))
        gap = min(0.12, _SHARE * room / max(columns - 1, 1))
    places = {}
    for number, host in enumerate(hosts):
        line, column = divmod(number, columns)
        shift = (column - (min(columns, len(hosts)) - 1) / 2) * gap
        far = 0.2 + max(gap, _LEAST_GAP) * line
        places[host] = (
            switch[0] + far * along[0] + shift * across[0],
            switch[1] + far * along[1] + shift * across[1],
        )
    return places
