"""How a network is drawn: where its nodes are, and what is paused at a given time."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pyorch.base.lazy import pd
from pyorch.report.figures.names import MOST_HOSTS, Numbers, names_of
from pyorch.report.layout import Place

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pyorch.network.topology import Topology

Egress = tuple[int, int]

_FREE, _CYCLE, _CHAIN = "0.82", "#a31621", "#0173b2"
STYLES: dict[str, tuple[str, float, Any]] = {
    "paused": ("#e8a33d", 1.6, "-"),
    "cycle": (_CYCLE, 2.8, "-"),
    "stuck": ("#d9603b", 1.6, (0, (3, 1.5))),
}
"""Colour, width and dashes of an egress by its state; widths and dashes tell them apart in grey."""
NAMES = {"paused": "paused", "cycle": "wait for each other", "stuck": "stuck behind them"}
"""What the legend calls each state."""
_MOST_NUMBERS = 12
SCALE = 290.0
"""Points per unit of the layout at which gaps have these sizes; larger pictures keep them."""
_SWITCH_GAP, _HOST_GAP = 0.05, 0.025
"""Gap between a node and the lines of its links [units of the layout]."""
_BESIDE = 0.05
"""Distance between the links of the same two switches [units of the layout]."""
_MARGINS = (32.0, 32.0, 35.0)
"""Margins next to the nodes, below and above them [pt]."""
_UPRIGHT = 34.0
"""Margin below hosts, for vertical names [pt]."""
_MOST_PAIRS = 200
"""Above this number, links are drawn once, not once per direction."""
_FEW_LINES, _MOST_COVERED = 100, 0.4
"""More lines than this between two rows are thinner, if they would cover more than this share."""
_BOX = {"boxstyle": "round,pad=0.2", "facecolor": _CHAIN, "edgecolor": "white", "linewidth": 0.4}
_NUMBER: dict[str, Any] = {
    "ha": "center",
    "va": "center",
    "fontsize": 5.5,
    "color": "white",
    "zorder": 7,
    "fontweight": "bold",
}


@dataclass(frozen=True)
class Episode:
    """A deadlock of a run: when it formed [ps], its cycle, what is stuck, and its causal chain.

    chain: (time [ps], the egress that was paused), from the initial trigger on; the pause was sent
    by the second node of the egress.
    """

    formed: float
    cycle: tuple[Egress, ...]
    stuck: frozenset[Egress]
    chain: tuple[tuple[float, Egress], ...]


@dataclass(frozen=True)
class Line:
    """How egresses of one kind are drawn: a line along each, with or without an arrow head.

    egresses: with the width of each [pt]. shift: to the right of the link's middle [units of the
    layout].
    """

    egresses: Mapping[Egress, float]
    colour: str
    dashes: Any = "-"
    shift: float = 0.011
    head: float = 7.0
    order: float = 2


@dataclass(frozen=True)
class Map:
    """A network and where its nodes are."""

    network: Topology
    places: Mapping[int, Place]

    def limits(self, scale: float) -> tuple[Place, Place]:
        """Left, right, lower and upper end of what is drawn at a scale."""
        xs, ys = zip(*self.places.values(), strict=True)
        wide, below, above = (margin / max(scale, SCALE) for margin in _MARGINS)
        return (min(xs) - wide, max(xs) + wide), (min(ys) - below, max(ys) + above)

    def limits_with_upright_names(self, scale: float) -> tuple[Place, Place]:
        """The same, with room for names of many hosts, which may be vertical."""
        wide, (low, high) = Map.limits(self, scale)
        more = _UPRIGHT if len(self.network.hosts) > MOST_HOSTS else 0.0
        return wide, (low - more / scale, high)

    def draw_network(
        self, axes: Axes, lines: Iterable[Line], scale: float, numbers: Numbers = ()
    ) -> None:
        """Draw nodes, links, lines along egresses, and numbers where there is room for them.

        scale: points a unit of the layout.
        """
        axes.set_axis_off()
        axes.set_aspect("equal")
        axes.set_xlim(*self.limits(scale)[0])
        axes.set_ylim(*self.limits(scale)[1])
        ends = list(self.network.links)[: len(self.network.a)]
        down = {ends[link]: 0.8 for link in sorted(self.network.failed_links)}
        up = [link for link in ends if link not in down]
        if len(up) > _MOST_PAIRS:
            thin = self.thinned(dict.fromkeys(up, 0.5), scale)
            free = Line(thin, _FREE, shift=0, head=0, order=1)
        else:
            both = [egress for one in up for egress in (one, self.network.reverse(one))]
            free = Line(dict.fromkeys(both, 0.8), _FREE, head=0, order=1)
        self._line(axes, free, scale)
        self._line(axes, Line(down, _FREE, ":", shift=0, head=0, order=1), scale)
        for line in lines:
            self._line(axes, line, scale)
        hosts = self.network.hosts.tolist()
        size = 2.5 if len(hosts) > MOST_HOSTS else 5
        dots = [self.places[host] for host in hosts]
        axes.plot(*zip(*dots, strict=True), "o", color="0.6", markersize=size, zorder=4)
        for name in names_of(self.network, self.places, scale, numbers):
            name.draw(axes)

    def thinned(self, widths: Mapping[Egress, float], scale: float) -> dict[Egress, float]:
        """Widths [pt] at which many lines between two rows leave some of the area there free.

        scale: points a unit of the layout.
        """
        layers: dict[frozenset[float], list[Egress]] = defaultdict(list)
        for egress in widths:
            between = frozenset(round(place[1], 6) for place in self.places_of(egress))
            layers[between].append(egress)
        found = dict(widths)
        for rows, egresses in layers.items():
            if len(egresses) > _FEW_LINES:
                xs = [place[0] for egress in egresses for place in self.places_of(egress)]
                area = scale * (max(xs) - min(xs)) * (max(rows) - min(rows))
                lengths = {one: math.dist(*self.places_of(one)) for one in egresses}
                covered = sum(widths[one] * length for one, length in lengths.items())
                factor = min(1.0, _MOST_COVERED * area / covered)
                found |= {one: factor * widths[one] for one in egresses}
        return found

    def _line(self, axes: Axes, line: Line, scale: float) -> None:
        from matplotlib.collections import LineCollection, PolyCollection

        if not line.egresses:
            return
        size = min(1.0, SCALE / scale)
        segments = [self.ends(egress, line.shift, size) for egress in line.egresses]
        look: dict[str, Any] = {"colors": line.colour, "linewidths": [*line.egresses.values()]}
        drawn = LineCollection(segments, linestyles=[line.dashes], zorder=line.order, **look)
        axes.add_collection(drawn, autolim=False)
        if line.head:
            heads = [_head(*ends, line.head / scale) for ends in segments]
            looks: dict[str, Any] = {"facecolors": line.colour, "edgecolors": "none"}
            drawn_heads = PolyCollection(heads, zorder=line.order, **looks)
            axes.add_collection(drawn_heads, autolim=False)

    def ends(self, egress: Egress, shift: float = 0.011, size: float = 1.0) -> tuple[Place, Place]:
        """Return where the line of an egress begins and ends; size: factor for the gaps."""
        node, far = egress[0], self.network.far(egress[1])
        beside = self.network.neighbours_by(node, far)
        if len(beside) > 1:  # the links of two nodes lie side by side
            middle = beside.index(egress[1]) - (len(beside) - 1) / 2
            shift += (_BESIDE if node < far else -_BESIDE) * middle
        gaps = [_HOST_GAP if end in self._hosts else _SWITCH_GAP for end in (node, far)]
        return _beside_line(self.places_of(egress), (gaps[0] * size, gaps[1] * size), shift * size)

    def places_of(self, egress: Egress) -> tuple[Place, Place]:
        """Return where the two nodes of an egress are."""
        return self.places[egress[0]], self.places[self.network.far(egress[1])]

    @cached_property
    def _hosts(self) -> frozenset[int]:
        return frozenset(self.network.hosts.tolist())


@dataclass(frozen=True)
class Picture(Map):
    """The network, and what is paused at which times."""

    episode: Episode | None
    pauses: pd.DataFrame

    def state(self, time: float) -> dict[Egress, str]:
        """Return the egresses that are held back at a given time, and how."""
        rows = self.pauses[(self.pauses["start_ps"] <= time) & (self.pauses["end_ps"] > time)]
        held = set(zip(rows["node"].astype(int), rows["peer"].astype(int), strict=True))
        states = dict.fromkeys(held, "paused")
        if self.episode is not None and self.deadlocked(time):
            states |= {egress: "stuck" for egress in self.episode.stuck if egress in held}
            states |= dict.fromkeys(self.episode.cycle, "cycle")
        return states

    def deadlocked(self, time: float) -> bool:
        """Whether the deadlock exists at a time [ps]."""
        return self.episode is not None and time >= self.episode.formed

    def draw(self, axes: Axes, time: float, *, wide: bool = True) -> None:
        """Draw the network at a time [ps]; wide: over two columns of a paper."""
        states = self.state(time)
        lines = []
        for state, (colour, width, dashes) in STYLES.items():
            mine = {egress: width for egress, what in states.items() if what == state}
            lines.append(Line(mine, colour, dashes, order=3 if state == "cycle" else 2))
        self.draw_network(axes, lines, self._scale(axes))
        self._chain(axes, time)
        axes.text(
            0.01,
            0.99,
            self.title(time),
            transform=axes.transAxes,
            va="top",
            fontsize=9,
            color=_CYCLE if self.deadlocked(time) else "0.2",
        )
        _legend(axes, set(states.values()), chain=self.chain_at(time), wide=wide)

    def _scale(self, axes: Axes) -> float:
        """Minimum points per unit of the layout in the figure."""
        canvas = axes.get_figure(root=True)
        width, height = canvas.get_size_inches() if canvas is not None else (7.0, 3.6)
        (left, right), (low, high) = self.limits(SCALE)
        return float(72 * min(0.95 * width / (right - left), 0.8 * height / (high - low)))

    def title(self, time: float) -> str:
        """The text about a time [ps]."""
        return clock_text(time) + (": deadlock" if self.deadlocked(time) else "")

    def _chain(self, axes: Axes, time: float) -> None:
        """Number the pauses of the chain so far, near their senders."""
        for egress, numbers in self.chain_at(time).items():
            start, end = self.ends(egress)
            x, y = (start[0] + 3 * end[0]) / 4, (start[1] + 3 * end[1]) / 4
            later = [number for number in numbers if number > 1]
            if 1 in numbers:
                axes.plot(x, y, "*", color=_CHAIN, markersize=15, zorder=6, markeredgecolor="white")
                axes.text(x, y, "1", **_NUMBER)
                x, y = (3 * start[0] + 2 * end[0]) / 5, (3 * start[1] + 2 * end[1]) / 5
            if later:
                few = later if len(later) < 4 else [*later[:2], later[-1]]
                axes.text(x, y, ",".join(map(str, few)), bbox=_BOX, **_NUMBER)

    def chain_at(self, time: float) -> dict[Egress, list[int]]:
        """Return the numbers of the causal chain's pauses up to a time [ps], by egress."""
        seen: dict[Egress, list[int]] = defaultdict(list)
        chain = () if self.episode is None else self.episode.chain
        for number, (when, egress) in enumerate(chain, start=1):
            early = number == 1 or len(chain) - number < _MOST_NUMBERS
            if when <= time and early:
                seen[egress].append(number)
        return dict(seen)

    def table(self, time: float) -> pd.DataFrame:
        """Return what the picture says: node, peer, state at a time; and the chain."""
        names = self.network.end_names
        rows = [
            {"what": state, "node": names[node], "peer": names[peer], "time_ps": time}
            for (node, peer), state in sorted(self.state(time).items())
        ]
        rows += [
            {"what": f"chain {number}", "node": names[node], "peer": names[peer], "time_ps": when}
            for number, (when, (node, peer)) in enumerate(
                () if self.episode is None else self.episode.chain, start=1
            )
        ]
        return pd.DataFrame(rows)


def clock_text(time: float) -> str:
    """A time [ps] as a picture and its slider show it: "370.9 µs"."""
    return f"{time / 1e6:.1f} µs"


def _beside_line(
    places: tuple[Place, Place], gaps: tuple[float, float], shift: float
) -> tuple[Place, Place]:
    """Return the ends of one direction of a link: a little to its right, and short of the nodes."""
    a, b = places
    dx, dy = b[0] - a[0], b[1] - a[1]
    length = math.hypot(dx, dy) or 1.0
    ux, uy = dx / length, dy / length
    first, last = (min(gap, 0.25 * length) for gap in gaps)
    start = (a[0] + first * ux + shift * uy, a[1] + first * uy - shift * ux)
    end = (b[0] - last * ux + shift * uy, b[1] - last * uy - shift * ux)
    return start, end


def _head(a: Place, b: Place, size: float) -> tuple[Place, Place, Place]:
    """The corners of an arrow's head whose tip is at b."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    length = math.hypot(dx, dy) or 1.0
    ux, uy = size * dx / length, size * dy / length
    foot = (b[0] - ux, b[1] - uy)
    return b, (foot[0] - 0.35 * uy, foot[1] + 0.35 * ux), (foot[0] + 0.35 * uy, foot[1] - 0.35 * ux)


def _legend(
    axes: Axes, states: Collection[str], chain: Mapping[Egress, Sequence[int]], *, wide: bool
) -> None:
    """Add a legend for the styles used in the picture."""
    from matplotlib.lines import Line2D

    entries = [
        Line2D([], [], color=colour, linewidth=width, linestyle=dashes, label=NAMES[state])
        for state, (colour, width, dashes) in STYLES.items()
        if state in states
    ]
    numbers = {number for some in chain.values() for number in some}
    if 1 in numbers:
        star: dict[str, Any] = {"marker": "*", "linestyle": "", "markersize": 9}
        entries.append(Line2D([], [], color=_CHAIN, label="initial trigger", **star))
    if numbers - {1}:
        square: dict[str, Any] = {"marker": "s", "linestyle": ""}
        entries.append(Line2D([], [], color=_CHAIN, label="causal chain", **square))
    if entries:
        axes.legend(
            handles=entries,
            loc="upper center",
            bbox_to_anchor=(0.5, 0.0),
            ncol=5 if wide else 2,
        )
