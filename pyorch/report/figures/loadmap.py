"""Drawing the load of links: colours, lines of a map, and cells if there are many links."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from typing_extensions import override

from pyorch.base.lazy import np, pd
from pyorch.report.figures.names import Numbers, text_size
from pyorch.report.figures.picture import Egress, Line, Map
from pyorch.report.layout import Place, layers_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import BoundaryNorm, Colormap

    from pyorch.metrics.loads import Loads
    from pyorch.network.topology import Topology

STEPS = 10
"""Colours of the scale."""
TOPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Possible ends of the scale, which all panels share."""
NOTHING = "#d1d1d1"
"""Colour of links that carried nothing."""
_WIDTHS = (0.9, 2.9)
"""Width of a line, from almost nothing to the top of the scale [pt]."""
_THICK = 220.0
"""Scale of a map at which lines have these widths [pt per unit]."""
_MOST_POINTS = 280.0
"""Height of a map [pt]."""
_AT = (0.5, 0.38, 0.62, 0.28, 0.72)
"""Positions along a line for its number, best first."""
_MOST_HEADS = 120
"""Number of egresses that get arrow heads."""
_LINE_OF_CELLS = 64
_LEAST_EDGED = 3.0
"""Width above which a cell gets a white edge [pt]."""
TITLE = 6.5
"""Size of the text above cells [pt]."""


@dataclass(frozen=True)
class Shades:
    """The colours of shares, in equal steps from 0 to a maximum."""

    top: float

    @cached_property
    def colours(self) -> list[str]:
        """From the lightest to the darkest."""
        from matplotlib import colormaps
        from matplotlib.colors import to_hex

        dark = colormaps["viridis_r"]
        return [to_hex(dark(0.06 + 0.94 * step / (STEPS - 1))) for step in range(STEPS)]

    def step(self, share: float) -> int:
        """Return the number of the colour of a share above 0."""
        return min(max(math.ceil(share / self.top * STEPS - 1e-9) - 1, 0), STEPS - 1)

    def looks(self) -> tuple[Colormap, BoundaryNorm]:
        """Return the same for Matplotlib; a share of 0 is below its first colour."""
        from matplotlib.colors import BoundaryNorm, ListedColormap

        bounds = [1e-12, *(self.top * step / STEPS for step in range(1, STEPS + 1))]
        colours = ListedColormap(self.colours).with_extremes(under=NOTHING, bad="none")
        return colours, BoundaryNorm(bounds, STEPS)


def shades_of(shares: Sequence[float]) -> Shades:
    """Return the shortest scale that includes the largest share."""
    most = max(shares, default=0.0)
    return Shades(next((top for top in TOPS if most <= top * (1 + 1e-9)), TOPS[-1]))


@dataclass(frozen=True)
class LoadMap(Map):
    """The network with the share of each egress. title: of the panel."""

    shares: Mapping[Egress, float]
    title: str = ""

    @override
    def limits(self, scale: float) -> tuple[Place, Place]:
        return self.limits_with_upright_names(scale)

    def size(self, inches: float) -> tuple[float, float]:
        """Return the height that it needs at a width [in], and its scale [pt per unit]."""
        points = 72 * inches / 1.7
        for _ in range(3):  # the margins of limits are in points
            (left, right), (low, high) = self.limits(points)
            points = min(72 * inches / (right - left), _MOST_POINTS / (high - low))
        return points * (high - low) / 72, points

    def lines(self, shades: Shades, scale: float) -> list[Line]:
        """Lines of a colour and width for each step of the scale, the darkest on top.

        scale: points per unit of the layout; small maps have thinner lines.
        """
        thin = min(1.0, max(0.4, scale / _THICK))
        steps: list[dict[Egress, float]] = [{} for _ in range(STEPS)]
        for egress, share in self.shares.items():
            if share > 0:
                number = shades.step(share)
                low, high = _WIDTHS
                steps[number][egress] = thin * (low + (high - low) * number / (STEPS - 1))
        head = 6.0 if len(self.shares) <= _MOST_HEADS else 0.0
        return [
            Line(egresses, colour, head=head, order=2 + number / STEPS)
            for number, (egresses, colour) in enumerate(zip(steps, shades.colours, strict=True))
        ]

    def numbers(self, most: int) -> Numbers:
        """The shares of the heaviest egresses [%], and possible positions for them."""
        heaviest = sorted(self.shares.items(), key=lambda item: (-item[1], item[0]))[:most]
        return [
            (percent(share), [self._along(egress, at) for at in _AT])
            for egress, share in heaviest
            if share > 0
        ]

    def _along(self, egress: Egress, at: float) -> tuple[float, float]:
        (x0, y0), (x1, y1) = self.ends(egress)
        return x0 + at * (x1 - x0), y0 + at * (y1 - y0)


@dataclass(frozen=True)
class Cells:
    """Egresses of one tier and direction, in rows: a column is a switch, a row its n-th link."""

    what: str
    rows: Sequence[Sequence[Egress | None]]


def cells_of(network: Topology) -> list[Cells]:
    """Return all egresses, tier by tier: first those leading up, from the hosts on, then down."""
    layers = layers_of(network)
    tier = [layers.get(node, -1) for node in range(len(network.names))]
    near: list[list[int]] = [[] for _ in network.names]
    for node, neighbour in network.links:
        near[node].append(neighbour)
    up, down = [], []
    for low in sorted(set(tier)):
        nodes = [node for node, mine in enumerate(tier) if mine == low]
        for high in sorted(set(tier)):
            links = {
                node: [one for one in sorted(near[node]) if tier[network.far(one)] == high]
                for node in nodes
            }
            if low < 0 <= high:  # a switch of many hosts, not the other way round
                switches = [node for node, mine in enumerate(tier) if mine == high]
                lists = [
                    [network.reverse((s, h)) for h in sorted(near[s]) if tier[network.far(h)] < 0]
                    for s in switches
                ]
            else:
                lists = [[(node, other) for other in links[node]] for node in nodes]
            if high < low or not any(lists):
                continue
            up.append(_cells(network, lists))
            if high > low:
                down.append(_cells(network, [[network.reverse(one) for one in of] for of in lists]))
    return [*up, *reversed(down)]


def _cells(network: Topology, lists: Sequence[Sequence[Egress]]) -> Cells:
    """Put lists of egresses side by side, or all in one row if they are few."""
    from itertools import zip_longest

    every = [egress for one in lists for egress in one]
    ends = ({node for node, _ in every}, {network.far(neighbour) for _, neighbour in every})
    names = [_range([network.names[node] for node in sorted(nodes)]) for nodes in ends]
    columns, rows = len(lists), max(map(len, lists))
    if rows > columns and len(every) > columns:
        wide = min(_LINE_OF_CELLS, len(every))
        lines = [every[first : first + wide] for first in range(0, len(every), wide)]
        filled = [[*line, *[None] * (wide - len(line))] for line in lines]
    else:
        filled = [list(row) for row in zip_longest(*lists)]
    return Cells(" → ".join(names), filled)


def _range(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} – {names[-1]}"


def percent(share: float) -> str:
    """A share in percent, with about two digits."""
    value = 100 * share
    return f"{value:.0f}" if value >= 10 else f"{value:.1f}" if value >= 1 else f"{value:.2g}"


@dataclass(frozen=True)
class Panel:
    """A run, what its links carried, and which quantity is shown."""

    title: str
    network: Topology
    loads: Loads
    shares: Mapping[Egress, float]

    def name(self, egress: Egress) -> str:
        """The name of an egress: "leaf0 → spine1"."""
        return " → ".join(self.network.end_names[node] for node in egress)

    def most(self, egresses: Sequence[Egress]) -> str:
        """A summary of some of the egresses: their mean, and the largest."""
        worst = max(egresses, key=lambda egress: self.shares[egress])
        mean = sum(self.shares[egress] for egress in egresses) / len(egresses)
        if self.shares[worst] == 0:
            return "nothing"
        return f"mean {percent(mean)} %, most {percent(self.shares[worst])} % ({self.name(worst)})"

    def table(self) -> pd.DataFrame:
        """The data behind it, one row per egress."""
        loads, names = self.loads, self.network.end_names
        paused = {} if loads.paused is None else {"paused": loads.paused}
        return pd.DataFrame(
            {
                "panel": self.title,
                "node": [names[node] for node in loads.node.tolist()],
                "peer": [names[peer] for peer in loads.peer.tolist()],
                "rate_bps": loads.rates,
                "bytes": loads.carried,
                "begin_ps": loads.begin,
                "end_ps": loads.end,
                "load": loads.load,
                **paused,
            }
        )


def there(cells: Cells) -> list[Egress]:
    """Return the egresses of cells."""
    return [egress for row in cells.rows for egress in row if egress is not None]


def shares_of(cells: Cells, shares: Mapping[Egress, float]) -> Iterator[list[float]]:
    """The shares of cells, row by row; NaN where there is no link."""
    for row in cells.rows:
        yield [math.nan if egress is None else shares[egress] for egress in row]


def title_of(what: str, said: str, points: float) -> str:
    """As much of a title as fits."""
    forms = [f"{what}: {said}", f"{what}: {said.partition(' (')[0]}", what]
    return next((form for form in forms if text_size(form, TITLE)[0] <= points), said)


def draw_cells(axes: Axes, cells: Cells, panel: Panel, shades: Shades, points: float) -> None:
    """Draw them. points: width."""
    values = np.ma.masked_invalid(list(shares_of(cells, panel.shares)))
    colours, norm = shades.looks()
    axes.pcolormesh(
        values, cmap=colours, norm=norm, rasterized=True,
        edgecolor="white", linewidth=0.3 * (points / values.shape[1] >= _LEAST_EDGED),
    )  # fmt: skip
    axes.set_axis_off()
    axes.invert_yaxis()
