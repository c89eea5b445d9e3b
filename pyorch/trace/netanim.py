"""The frames of a run as a trace file of NetAnim, ns-3's animator.

The format is that of ns-3's AnimationInterface, version 3.109: an element "node" and "nu" elements
(name, colour, size) for each node, "link" for each link, "p" for each frame, with the times of its
first and last bit at both ends in seconds. NetAnim reads the version in the first line, so there is
no XML declaration before it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import quoteattr

from pyorch.base.files import opened
from pyorch.base.units import format_rate, format_time
from pyorch.network.topology import HOST
from pyorch.report.layout import Place, layout

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pyorch.network.topology import Topology

KINDS = ("DATA", "ACK", "NACK", "CNP", "SIGNAL", "MAC control", "PACKET")
"""Names of ns3::lossless::FrameKind, in its order."""
MAC_CONTROL = KINDS.index("MAC control")
PFC_OPCODE = 0x0101

HOST_COLOUR = (70, 130, 180)
SWITCH_COLOUR = (220, 120, 40)
NODE_SIZE = 4.0
SPACING = 20.0
"""Distance between the nearest nodes; NetAnim scales everything to its window."""

_PS = 10**12


def write_animation(
    path: Path, network: Topology, frames: Mapping[str, NDArray[Any]], size: float = NODE_SIZE
) -> int:
    """Write the animation of the table "frame"; return the number of frames in it.

    Frames whose last bit is not received before the end of the run are shown as received. Raises
    OSError.
    """
    places = spread(layout(network))
    with opened(path, "w") as file:
        file.write('<anim ver="netanim-3.109" filetype="animation">\n')
        for line in (*_nodes(network, places, size), *_links(network)):
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


def spread(places: Mapping[int, Place]) -> dict[int, Place]:
    """Nodes on NetAnim's canvas, where y grows downwards."""
    apart = min((math.dist(*two) for two in pairwise(places.values())), default=1.0)
    scale, top = SPACING / apart, max(y for _, y in places.values())
    return {node: (scale * x, scale * (top - y)) for node, (x, y) in places.items()}


def _nodes(network: Topology, places: Mapping[int, Place], size: float) -> Iterator[str]:

    for number, name in enumerate(network.names):
        x, y = places[number]
        yield _element("node", id=number, sysId=0, locX=f"{x:.2f}", locY=f"{y:.2f}")
        red, green, blue = HOST_COLOUR if network.kinds[number] == HOST else SWITCH_COLOUR
        yield _element("nu", p="d", t=0, id=number, descr=name)
        yield _element("nu", p="c", t=0, id=number, r=red, g=green, b=blue)
        yield _element("nu", p="s", t=0, id=number, w=size, h=size)


def _links(network: Topology) -> Iterator[str]:

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
            tId=network.far(peer),
            fbRx=seconds(time + delays[link]),
            lbRx=seconds(sent + delays[link]),
        )


def seconds(picoseconds: int) -> str:
    """Write a time [ps] in seconds, exactly."""
    return f"{picoseconds // _PS}.{picoseconds % _PS:012d}"


def describe(kind: int, cls: int, flow: int, psn: int, opcode: int, size: int) -> str:
    """Describe a frame for NetAnim's tables and filters. size: on the wire [B]."""
    name = KINDS[kind] if kind < len(KINDS) else f"kind {kind}"
    if kind == MAC_CONTROL:
        scheme = "PFC " if opcode == PFC_OPCODE else ""
        return f"{scheme}{name} 0x{opcode:04x} {size} B"
    number = f" psn {psn}" if psn >= 0 else ""
    queue = f"class {cls}" if cls < 8 else "control queue"
    return f"{name} flow {flow}{number} {queue} {size} B"
