"""The picture of a run before it runs: its network, where its flows go, and their cycle if any."""

from __future__ import annotations

import base64
import html
import io
import math
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from pyorch.base.files import make_folder, replacing, write_atomically
from pyorch.base.units import format_rate, format_time
from pyorch.network import topology
from pyorch.network.topology import Topology
from pyorch.notebook import show_as
from pyorch.plan import RunSpec
from pyorch.report.figures.picture import SCALE, Egress, Line, Map
from pyorch.report.layout import Place, layout
from pyorch.report.style import COLOURS, DASHES, paper_style
from pyorch.setting.canonical import Setting
from pyorch.setting.dependency import FlowCycle, Way, describe_cycle, flow_cycle, flow_ways

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure as Canvas


FORMATS = (".svg", ".png", ".pdf")
"""Of files that a picture is written into."""
MOST_COLOURS = 6
"""With more pairs of hosts, all share one colour."""
_LANE = 0.009
"""Distance of the lines of two pairs of hosts [units of the layout]."""
_BAND, _PALE_RED = 6.5, "#f0aea4"
"""Width of the band below the lines of a cycle [pt], if there is one of them, and its colour."""
_INCHES = 7.0
"""Width of most pictures; large ones are as wide as their names need."""
_LEAST_INCHES = 4.5
_MOST_POINTS = 480.0
"""Size of a unit of the layout, unless names need more."""
_NAME_POINTS = 12.5
"""Distance from a switch to the next one in its row."""
_LINE_POINTS = 11.0
_KEY_POINTS = 150.0
"""Width of an entry of the legend."""
_KEY_LINES = (1.6, 5.0)
"""Least and largest width of a line in the legend [pt], whatever the width of those it explains."""
_MOST_HEADS = 600
"""With more egresses in use, arrow heads would hide what they point at."""


@dataclass(frozen=True)
class PlannedMap(Map):
    """A network, the flows' ways by the routes at the start, and a cycle of their dependencies."""

    title: str = ""
    ways: Sequence[Way] = ()
    cycle: FlowCycle = field(default_factory=lambda: FlowCycle("none"))

    @override
    def limits(self, scale: float) -> tuple[Place, Place]:
        return self.limits_with_upright_names(scale)

    @property
    def pairs(self) -> Counter[tuple[int, int]]:
        """How many flows go from host to host."""
        return sum((Counter(way.pairs) for way in self.ways), Counter[tuple[int, int]]())

    def crossed(self) -> dict[Egress, tuple[int, bool]]:
        """How many flows cross each egress, and whether that is certain for all of them."""
        found: dict[Egress, tuple[int, bool]] = {}
        for way in self.ways:
            for egress, (flows, sure) in way.crossed(self.network).items():
                before, was_sure = found.get(egress, (0, True))
                found[egress] = (before + flows, was_sure and sure)
        return found

    def lines(self) -> list[tuple[str, Line]]:
        """What is drawn along egresses, with the legend's text."""
        found = list(self._flows())
        if self.cycle.cycle:  # a band below the flows' lines, which all stay visible
            cycle, certain = self.cycle.cycle, self.cycle.verdict == "certain"
            lines = [line for _, line in found if not line.egresses.keys().isdisjoint(cycle)]
            shifts = [line.shift for line in lines] or [Line.shift]  # the routes may change later
            first, last = min(shifts), max(shifts)
            scale = min(_scale(self.network, self.places), SCALE)
            widths = dict.fromkeys(cycle, _BAND + (last - first) * scale)
            dashes = "-" if certain else (0, (1, 0.5))
            band = Line(widths, _PALE_RED, dashes, (first + last) / 2, head=0, order=1.5)
            found.append(("cyclic dependency", band))
        return found

    def _flows(self) -> Iterator[tuple[str, Line]]:
        names = self.network.names
        if len(self.pairs) <= MOST_COLOURS:
            lanes: Counter[Egress] = Counter()
            for number, ((src, dst), flows) in enumerate(self.pairs.items()):
                own = [
                    Way({(src, dst): 1}, way.between)
                    for way in self.ways
                    if (src, dst) in way.pairs
                ]
                crossed = PlannedMap(self.network, self.places, ways=own).crossed()
                lane = max((lanes[egress] for egress in crossed), default=0)
                lanes |= dict.fromkeys(crossed, lane + 1)
                text = f"{names[src]} → {names[dst]}" + (f" ({flows} flows)" if flows > 1 else "")
                widths = {egress: 1.6 if sure else 0.8 for egress, (_, sure) in crossed.items()}
                dashes = DASHES[number % len(DASHES)]
                yield text, Line(widths, COLOURS[number], dashes, 0.011 + lane * _LANE)
            return
        crossed = self.crossed()
        most = max(flows for flows, _ in crossed.values())
        wide = {
            egress: 0.6 + 1.6 * math.log1p(flows) / math.log1p(most)
            for egress, (flows, _) in crossed.items()
        }
        thin = self.thinned(wide, _scale(self.network, self.places))
        head = 5.0 if len(crossed) <= _MOST_HEADS else 0.0
        for sure, text, colour in (
            (False, "flows may take it (ECMP)", "#8fbfdf"),
            (True, "flows take it", COLOURS[0]),
        ):
            widths = {egress: thin[egress] for egress, one in crossed.items() if one[1] == sure}
            yield text, Line(widths, colour, head=head)

    def texts(self) -> list[str]:
        """The text below it: what the network consists of, and the flows' dependencies."""
        kinds = self.network.kinds
        hosts, flows = len(self.network.hosts), sum(self.pairs.values())
        made = [_count(hosts, "host"), _count(len(kinds) - hosts, "switch", "switches")]
        links = Counter(zip(self.network.rates.tolist(), self.network.delays.tolist(), strict=True))
        if len(links) <= 3:
            made += [
                f"{count} × {format_rate(rate)}, {format_time(delay)}"
                for (rate, delay), count in links.most_common()
            ]
        else:
            made.append(_count(len(self.network.a), "link"))
        texts = [self.title] if self.title else []
        texts.append("; ".join(made))
        if flows:
            texts.append(
                f"{_count(flows, 'flow')} between {_count(len(self.pairs), 'pair')} of hosts; "
                f"{describe_cycle(self.cycle, self.network.end_names)}"
            )
        return texts

    def _repr_html_(self) -> str:
        """The picture as a notebook shows it; an image, so that several do not share names."""
        image = base64.b64encode(svg(self).encode()).decode()
        about = html.escape("; ".join(self.texts()), quote=True)
        return f'<img alt="{about}" src="data:image/svg+xml;base64,{image}" style="max-width:none">'

    def canvas(self) -> Canvas:
        """Draw it in a size at which its names are legible."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        scale = _scale(self.network, self.places)
        (left, right), (low, high) = self.limits(scale)
        width = max(scale * (right - left), 72 * _LEAST_INCHES)
        texts = [line for text in self.texts() for line in textwrap.wrap(text, int(width / 4.2))]
        lines = [(text, line) for text, line in self.lines() if line.egresses]
        columns = max(1, int(width / _KEY_POINTS))
        legend = math.ceil(len(lines) / columns) * _LINE_POINTS + 6 if lines else 0.0
        middle = scale * (high - low)
        height = len(texts) * _LINE_POINTS + 8 + middle + legend
        with paper_style():
            figure = Figure(figsize=(width / 72, height / 72))
            FigureCanvasAgg(figure)
            axes = figure.add_axes((0, legend / height, 1, middle / height))
            self.draw_network(axes, [line for _, line in lines], scale)
            for number, text in enumerate(texts):
                y = 1 - (6 + _LINE_POINTS * number) / height
                figure.text(6 / width, y, text, fontsize=7.5, va="top", parse_math=False)
            if lines:
                figure.legend(
                    handles=[_key(text, line) for text, line in lines],
                    loc="lower left",
                    ncols=columns,
                    borderaxespad=0.3,
                )
        return figure


def _scale(network: Topology, places: Mapping[int, Place]) -> float:
    """Points per unit of the layout, so that rows of switches have room for their names."""
    hosts = set(network.hosts.tolist())
    rows = Counter(round(y, 6) for node, (_, y) in places.items() if node not in hosts)
    xs, ys = zip(*places.values(), strict=True)
    fits = 72 * _INCHES / (max(max(xs) - min(xs), max(ys) - min(ys)) + 0.24)
    return max(float(min(fits, _MOST_POINTS)), _NAME_POINTS / 1.5 * max(rows.values(), default=1))


def _placed(network: Topology) -> dict[int, Place]:
    """The layout, flatter if it has to be wide."""
    places = layout(network)
    flat = min(1.0, _MOST_POINTS / _scale(network, places))
    return {node: (x, flat * y) for node, (x, y) in places.items()}


def _key(text: str, line: Line) -> Artist:
    from matplotlib.lines import Line2D

    width = min(max(_KEY_LINES[0], *line.egresses.values()), _KEY_LINES[1])
    look: dict[str, Any] = {"color": line.colour, "linestyle": line.dashes, "linewidth": width}
    return Line2D([], [], label=text, solid_capstyle="butt", **look)


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def planned_map(setting: Setting, seed: int, title: str = "") -> PlannedMap:
    """Return the picture of a run: its network, its flows' ways, their cycle."""
    network = topology.build(setting.topology)
    ways = flow_ways(setting, seed, network)
    cycle = flow_cycle(setting, seed)
    return PlannedMap(network, _placed(network), title, ways, cycle)


def network_map(network: Topology, title: str = "") -> PlannedMap:
    """Return the picture of a network without flows."""
    return PlannedMap(network, _placed(network), title)


def svg(drawn: PlannedMap) -> str:
    """Return it as SVG with real text; the same picture gives the same bytes."""
    import matplotlib as mpl

    file = io.StringIO()
    with paper_style(), mpl.rc_context({"svg.fonttype": "none"}):
        drawn.canvas().savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return file.getvalue()


def save(drawn: PlannedMap, file: Path) -> None:
    """Write it in the format given by the file's suffix: .svg, .png or .pdf. Raises OSError."""
    make_folder(file.parent)
    if file.suffix == ".svg":
        write_atomically(file, svg(drawn))
    else:
        with replacing(file) as temporary:
            drawn.canvas().savefig(temporary, dpi=200)


def show_in_notebooks() -> None:
    """Make a notebook show networks, topologies and runs as pictures; no effect elsewhere."""
    show_as(topology.Topology, lambda network: network_map(network)._repr_html_())
    show_as(
        topology.TopologyTable,
        lambda table: network_map(topology.build(table), repr(table))._repr_html_(),
    )
    show_as(RunSpec, lambda spec: planned_map(spec.setting, spec.seed, spec.title)._repr_html_())
