"""The frames of a run as a trace file of NetAnim, ns-3's animator.

The format is that of ns-3's AnimationInterface, version 3.109: an element "node" and "nu" elements
(name, colour, size) for each node, "link" for each link, "p" for each frame, with the times of its
first and last bit at both ends in seconds. NetAnim reads the version in the first line, so there is
no XML declaration before it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import quoteattr

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pyorch.config.topology import Topology

KINDS = ("DATA", "ACK", "NACK", "CNP", "SIGNAL", "MAC control", "PACKET")
"""Names of ns3::lossless::FrameKind, in its order."""
MAC_CONTROL = KINDS.index("MAC control")
PFC_OPCODE = 0x0101

HOST_COLOUR = (70, 130, 180)
SWITCH_COLOUR = (220, 120, 40)
SPACING = 20.0
"""Between neighbours on the canvas; NetAnim scales it to its window."""
NODE_SIZE = 4.0

_PS = 10**12


def write_animation(
    path: Path, network: Topology, frames: Mapping[str, NDArray[Any]], size: float = NODE_SIZE
) -> int:
    """Write the animation of the table "frame"; return how many frames it shows.

    Frames whose last bit is not received before the run ends are shown as if they were. Raises
    OSError.
    """
    positions = layout(network)
    with path.open("w", encoding="utf-8") as file:
        file.write('<anim ver="netanim-3.109" filetype="animation">\n')
        for line in (*_nodes(network, positions, size), *_links(network)):
            file.write(f"{line}\n")
        for line in _packets(network, frames):
            file.write(f"{line}\n")
        file.write("</anim>\n")
    return len(frames["time_ps"])


def _element(name: str, **attributes: object) -> str:
    words = [
        f"{key.replace('_', '-')}={quoteattr(str(value))}" for key, value in attributes.items()
    ]
    return f"<{name} {' '.join(words)}/>"


def _nodes(
    network: Topology, positions: Mapping[int, tuple[float, float]], size: float
) -> Iterator[str]:
    from pyorch.config.topology import HOST

    for number, name in enumerate(network.names):
        x, y = positions[number]
        yield _element("node", id=number, sysId=0, locX=f"{x:.2f}", locY=f"{y:.2f}")
        red, green, blue = HOST_COLOUR if network.kinds[number] == HOST else SWITCH_COLOUR
        yield _element("nu", p="d", t=0, id=number, descr=name)
        yield _element("nu", p="c", t=0, id=number, r=red, g=green, b=blue)
        yield _element("nu", p="s", t=0, id=number, w=size, h=size)


def _links(network: Topology) -> Iterator[str]:
    from pyorch.units import format_rate, format_time

    for a, b, rate, delay in zip(
        network.a.tolist(),
        network.b.tolist(),
        network.rates.tolist(),
        network.delays.tolist(),
        strict=True,
    ):
        text = f"{format_rate(rate)}, {format_time(delay)}"
        yield _element("link", fromId=a, toId=b, fd=network.names[a], td=network.names[b], ld=text)


def _packets(network: Topology, frames: Mapping[str, NDArray[Any]]) -> Iterator[str]:
    rates = network.rates.tolist()
    delays = network.delays.tolist()
    columns = ("time_ps", "node", "peer", "kind", "class", "flow", "psn", "opcode", "bytes")
    for row in zip(*(frames[column].tolist() for column in columns), strict=True):
        time, node, peer, kind, cls, flow, psn, opcode, size = row
        link = network.links[node, peer]
        sent = time + -(-size * 8 * _PS // rates[link])  # C++ rounds up to whole picoseconds
        yield _element(
            "p",
            fId=node,
            fbTx=seconds(time),
            lbTx=seconds(sent),
            meta_info=describe(kind, cls, flow, psn, opcode, size),
            tId=peer,
            fbRx=seconds(time + delays[link]),
            lbRx=seconds(sent + delays[link]),
        )


def seconds(picoseconds: int) -> str:
    """Write a time [ps] in seconds, exactly."""
    return f"{picoseconds // _PS}.{picoseconds % _PS:012d}"


def describe(kind: int, cls: int, flow: int, psn: int, opcode: int, size: int) -> str:
    """Say what a frame is, for NetAnim's tables and filters. size: on the wire [B]."""
    name = KINDS[kind] if kind < len(KINDS) else f"kind {kind}"
    if kind == MAC_CONTROL:
        scheme = "PFC " if opcode == PFC_OPCODE else ""
        return f"{scheme}{name} 0x{opcode:04x} {size} B"
    number = f" psn {psn}" if psn >= 0 else ""
    queue = f"class {cls}" if cls < 8 else "control queue"
    return f"{name} flow {flow}{number} {queue} {size} B"


# ---------------------------------------------------------------------------------------------
# Where the nodes stand


def layout(network: Topology) -> dict[int, tuple[float, float]]:
    """Place the nodes: hosts at the bottom, switches in layers by their distance to a host.

    Where switches of one layer are joined to each other, as in a ring, they stand on a circle with
    their hosts outside, so that no link hides behind another; not where a host has no switch.
    """
    neighbours = _neighbours(network)
    layers = _layers(network, neighbours)
    level = any(
        layers[a] == layers[b] for a, b in zip(network.a.tolist(), network.b.tolist(), strict=True)
    )
    switched = all(
        layer > 0 or any(layers[n] > 0 for n in neighbours[node])
        for node, layer in enumerate(layers)
    )
    return _circle(neighbours, layers) if level and switched else _rows(neighbours, layers)


def _neighbours(network: Topology) -> list[list[int]]:
    neighbours: list[list[int]] = [[] for _ in network.names]
    for a, b in zip(network.a.tolist(), network.b.tolist(), strict=True):
        neighbours[a].append(b)
        neighbours[b].append(a)
    return neighbours


def _layers(network: Topology, neighbours: list[list[int]]) -> list[int]:
    """Links to the nearest host, by node; 0 for hosts and for nodes without a way to one."""
    layers = [0] * len(neighbours)
    reached = {int(host) for host in network.hosts}
    edge = sorted(reached)
    while edge:
        following = []
        for node in edge:
            for other in neighbours[node]:
                if other not in reached:
                    reached.add(other)
                    layers[other] = layers[node] + 1
                    following.append(other)
        edge = following
    return layers


def _rows(neighbours: list[list[int]], layers: list[int]) -> dict[int, tuple[float, float]]:
    """One row per layer, as wide as the widest; each in the order of what stands below it."""
    members: dict[int, list[int]] = {}
    for node, layer in enumerate(layers):
        members.setdefault(layer, []).append(node)
    width = SPACING * max(len(row) for row in members.values())
    top = max(members)
    positions: dict[int, tuple[float, float]] = {}
    for layer in sorted(members):
        row = members[layer] if layer == 0 else _over(members[layer], neighbours, positions)
        height = max(SPACING, width / 4)
        for place, node in enumerate(row):
            positions[node] = ((place + 0.5) * width / len(row), (top - layer) * height)
    return positions


def _over(
    row: list[int], neighbours: list[list[int]], positions: dict[int, tuple[float, float]]
) -> list[int]:
    def middle(node: int) -> float:
        below = [positions[other][0] for other in neighbours[node] if other in positions]
        return sum(below) / len(below) if below else 0.0

    return sorted(row, key=lambda node: (middle(node), node))


def _circle(neighbours: list[list[int]], layers: list[int]) -> dict[int, tuple[float, float]]:
    """Switches on a circle in the order of their numbers, hosts beyond their switch."""
    switches = [node for node, layer in enumerate(layers) if layer > 0]
    most = max(sum(layers[other] == 0 for other in neighbours[node]) for node in switches)
    share = 2 * math.pi / len(switches)
    outer = max(2 * SPACING, SPACING * most * len(switches) / (2 * math.pi))
    inner = outer * 0.6
    positions = {}
    for place, node in enumerate(switches):
        hosts = [other for other in neighbours[node] if layers[other] == 0]
        angle = place * share - math.pi / 2
        positions[node] = _on_circle(outer, inner, angle)
        for turn, host in enumerate(hosts):
            offset = share * ((turn + 0.5) / len(hosts) - 0.5)
            positions[host] = _on_circle(outer, outer, angle + 0.8 * offset)
    return positions


def _on_circle(centre: float, radius: float, angle: float) -> tuple[float, float]:
    return centre + radius * math.cos(angle), centre + radius * math.sin(angle)
