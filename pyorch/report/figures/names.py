"""Names in a picture of a network, as large as possible without overlap."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from pyorch.report.layout import Place

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pyorch.network.topology import Topology

_TRIES = ((6.5, False), (5.5, False), (6.5, True), (5.0, True))
"""Sizes [pt], and whether names are vertical; the first that fits is used."""
_PAD, _LINK_PAD, _APART = 0.35, 0.12, 1.0
"""Padding of a switch's and of a link's name [of its size], and gap between two frames [pt]."""
_FRAMES: dict[str, dict[str, Any]] = {
    "switch": {"boxstyle": f"round,pad={_PAD}", "facecolor": "white", "edgecolor": "0.3"}
    | {"linewidth": 0.8},
    "link": {"boxstyle": f"square,pad={_LINK_PAD}", "facecolor": "white", "edgecolor": "none"},
}
_LINK_SIZE = 6.0
"""Font size of a number at a link [pt]."""
_DOT = 3.0
"""Half of a host's size [pt]."""
MOST_HOSTS = 16
"""Above this number of hosts, those of a switch share one name."""


@dataclass(frozen=True)
class Box:
    """A rectangle by its centre and size [pt]."""

    x: float
    y: float
    width: float
    height: float

    def covers(self, other: Box) -> bool:
        """Whether another box is closer than the minimum gap."""
        return (
            abs(self.x - other.x) * 2 < self.width + other.width + 2 * _APART
            and abs(self.y - other.y) * 2 < self.height + other.height + 2 * _APART
        )


@dataclass(frozen=True)
class Name:
    """A text: its centre, its size [pt], whether it reads upwards, and what it belongs to."""

    text: str
    at: Place
    size: float
    upright: bool
    of: Literal["switch", "hosts", "link"]

    @property
    def pad(self) -> float:
        """Padding between the text and its frame [pt]."""
        return {"switch": _PAD, "hosts": 0.0, "link": _LINK_PAD}[self.of] * self.size

    def draw(self, axes: Axes) -> None:
        """Write it."""
        axes.text(
            *self.at,
            self.text,
            ha="center",
            va="center",
            fontsize=self.size,
            rotation=90 if self.upright else 0,
            color="0.35" if self.of == "hosts" else "black",
            zorder=5,
            bbox=_FRAMES.get(self.of),
        )


class _Paper:
    """What a picture contains so far. scale: points per unit of the layout."""

    def __init__(self, scale: float) -> None:
        self.scale = scale
        self._cells: dict[tuple[int, int], list[Box]] = defaultdict(list)

    def box(self, name: Name) -> Box:
        width, height = text_size(name.text, name.size)
        pad = 2 * name.pad
        if name.upright:
            width, height = height, width
        return Box(name.at[0] * self.scale, name.at[1] * self.scale, width + pad, height + pad)

    def add(self, boxes: Iterable[Box]) -> bool:
        """Add boxes unless they would overlap others."""
        placed: list[tuple[tuple[int, int], Box]] = []
        for box in boxes:
            cells = list(_cells(box))
            if any(box.covers(other) for cell in cells for other in self._cells[cell]):
                for cell, mine in placed:
                    self._cells[cell].remove(mine)
                return False
            for cell in cells:
                self._cells[cell].append(box)
                placed.append((cell, box))
        return True


def _cells(box: Box, size: float = 40.0) -> Iterable[tuple[int, int]]:
    """The squares of a grid [pt] that a box may touch."""
    xs = [int((box.x + sign * (box.width / 2 + _APART)) // size) for sign in (-1, 1)]
    ys = [int((box.y + sign * (box.height / 2 + _APART)) // size) for sign in (-1, 1)]
    return ((x, y) for x in range(xs[0], xs[1] + 1) for y in range(ys[0], ys[1] + 1))


@cache
def text_size(text: str, size: float) -> tuple[float, float]:
    """Width and height of a line of text [pt], in the font of all figures."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family="DejaVu Sans", size=size)
    width, _, _ = text_to_path.get_text_width_height_descent(text, font, False)
    return float(width), 1.2 * size


Numbers = Sequence[tuple[str, Sequence[Place]]]
"""Texts at links, most important first, each with its possible positions."""


def names_of(
    network: Topology, places: Mapping[int, Place], scale: float, numbers: Numbers = ()
) -> list[Name]:
    """The names that fit: switches, row by row, before hosts, before links.

    scale: points per unit of the layout.
    """
    paper = _Paper(scale)
    hosts = network.hosts.tolist()
    for host in hosts if len(hosts) <= MOST_HOSTS else ():
        x, y = places[host]
        paper.add([Box(x * scale, y * scale, _DOT, _DOT)])
    rows: dict[float, list[int]] = defaultdict(list)
    for node in sorted(places.keys() - set(hosts)):
        rows[round(places[node][1], 6)].append(node)
    found = []
    for _, row in sorted(rows.items()):
        found += _written(paper, [(network.names[node], places[node], 0) for node in row])
    found += _written(paper, [_label(network, places, own) for own in _groups(network)])
    for text, free in numbers:
        tries = (Name(text, at, _LINK_SIZE, upright=False, of="link") for at in free)
        first = next((name for name in tries if paper.add([paper.box(name)])), None)
        found += [first] if first else []
    return found


def _groups(network: Topology) -> list[list[int]]:
    """The groups of hosts that share a name: single hosts if there are few."""
    hosts = network.hosts.tolist()
    if len(hosts) <= MOST_HOSTS:
        return [[host] for host in hosts]
    found: dict[int, list[int]] = defaultdict(list)
    for host in hosts:
        found[int(network.racks[host])].append(host)
    return list(found.values())


_Label = tuple[str, Place, int]
"""A text, its position, and whether it is written there (0), below (-1) or above (1)."""


def _label(network: Topology, places: Mapping[int, Place], hosts: Sequence[int]) -> _Label:
    """The name of hosts, on the side away from their switch."""
    xs, ys = zip(*(places[host] for host in hosts), strict=True)
    first, *rest = (network.names[host] for host in hosts)
    text = first
    if rest:
        in_a_row = hosts[-1] - hosts[0] == len(hosts) - 1
        text += f" – {rest[-1]}" if in_a_row else f", {rest[0]}" + _more(rest)
    rack = int(network.racks[hosts[0]])
    is_above = rack != hosts[0] and min(ys) > places[rack][1]
    edge = max(ys) if is_above else min(ys)
    return text, ((min(xs) + max(xs)) / 2, edge), 1 if is_above else -1


def _more(names: Sequence[str]) -> str:
    return "" if len(names) == 1 else f" … {names[-1]}"


def _written(paper: _Paper, labels: Sequence[_Label]) -> list[Name]:
    """Names in one style, as large as fits; none if none fit."""
    for size, upright in _TRIES:
        names = []
        for text, (x, y), side in labels:
            width, height = text_size(text, size)
            away = _DOT + _APART + (width if upright else height) / 2
            at = (x, y + side * away / paper.scale)
            names.append(Name(text, at, size, upright, "hosts" if side else "switch"))
        if paper.add([paper.box(name) for name in names]):
            return names
    return []
