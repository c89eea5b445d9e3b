"""deadlock_map: the network at the moment a deadlock forms, and how it came to that."""

from __future__ import annotations

import io
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field
from typing_extensions import override

from pyorch.metrics import Need
from pyorch.metrics.fields import TrafficClass
from pyorch.report.figures.base import Drawn, FigureError, FigureModel, figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas
    from pandas import DataFrame

    from pyorch.config.topology import Topology
    from pyorch.metrics import RunTables
    from pyorch.report.data import ReportData

Place = tuple[float, float]
Egress = tuple[int, int]

_FREE, _PAUSED, _STUCK, _CYCLE, _CHAIN = "0.82", "#e8a33d", "#d9603b", "#a31621", "#0173b2"
_PARTS = {"cycle": 0, "stuck": 1, "chain": 2}
_MOST_SWITCHES = 60
_MOST_NUMBERS = 12
_FRAME_DPI = 100
_BOX = {"boxstyle": "round,pad=0.2", "facecolor": _CHAIN, "edgecolor": "white", "linewidth": 0.4}
_NUMBER: dict[str, Any] = {
    "ha": "center",
    "va": "center",
    "fontsize": 5.5,
    "color": "white",
    "zorder": 7,
    "fontweight": "bold",
}
NOTE = (
    "The network at the moment the deadlock forms. Each link is drawn once a direction; arrows "
    "point the way frames wanted to go, dotted links are down. Numbers: pauses of the causal chain "
    "in their order; 1, with the star, is the initial trigger."
)
_HOLD_MS = 2500


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


@figure
class DeadlockMap(FigureModel):
    """The network when a deadlock forms: paused links, the cycle, the causal chain, its trigger.

    Shows one run, the first that `where` leaves and that deadlocked; the report's page plays how
    it came to that in `frames` pictures. `class` picks one class, `episode` a later deadlock.
    """

    kind: Literal["deadlock_map"] = "deadlock_map"
    class_number: TrafficClass | None = Field(default=None, alias="class")
    episode: int = Field(default=0, ge=0)
    frames: int = Field(default=24, ge=0, le=120)

    @override
    def needs(self) -> list[Need]:
        return [Need("pause", None, self.class_number), Need("deadlock")]

    @override
    def draw(self, data: ReportData) -> Drawn:
        runs = self.rows_of(data)
        run, found = self._find(data, list(runs["hash"]))
        network = _network(run)
        pauses = self._pauses(run)
        places = layout(network)
        begin = min([pauses["start_ps"].min(), found.formed]) if len(pauses) else found.formed
        picture = _Picture(network, places, found, pauses)
        canvas, panels = self.canvas(1, 1, height=self.height or 3.6)
        picture.draw(panels[0][0], found.formed)
        notes = [NOTE]
        movie = b""
        if self.frames:
            movie = _animate(self, picture, begin, found.formed)
            notes.append(f"Shown in motion from {begin / 1e6:.1f} to {found.formed / 1e6:.1f} µs.")
        return Drawn(canvas, picture.table(found.formed), notes, movie)

    def _find(self, data: ReportData, hashes: Sequence[str]) -> tuple[RunTables, Episode]:
        """Return the first run that has the deadlock, and what is known of it."""
        for key in hashes:
            episodes = data.table(key, "deadlock")
            parts = data.table(key, "deadlock_part")
            if episodes is None or parts is None:
                raise FigureError("the runs have no table 'deadlock'; add a [[trace]]")
            cyclic = episodes[episodes["kind"] == 0]
            if len(cyclic) > self.episode:
                row = cyclic.iloc[self.episode]
                return data.run(key), _episode(int(row["episode"]), float(row["formed_ps"]), parts)
        raise FigureError("no run of these deadlocked")

    def _pauses(self, run: RunTables) -> DataFrame:
        """Intervals in which egresses obeyed a pause: start_ps, end_ps, node, peer."""
        import pandas as pd

        table = run.table("pause")
        if table is None:
            raise FigureError("the runs have no table 'pause'; add a [[trace]] and run again")
        names = ("start_ps", "end_ps", "node", "peer", "class", "side")
        rows = pd.DataFrame({name: table[name] for name in names})
        rows = rows[rows["side"] == 1]
        if self.class_number is not None:
            rows = rows[rows["class"] == self.class_number]
        return rows[["start_ps", "end_ps", "node", "peer"]]


def _episode(number: int, formed: float, parts: DataFrame) -> Episode:
    mine = parts[parts["episode"] == number].sort_values("order")

    def egresses(part: str) -> list[Egress]:
        rows = mine[mine["part"] == _PARTS[part]]
        return list(zip(rows["node"].astype(int), rows["peer"].astype(int), strict=True))

    chain = mine[mine["part"] == _PARTS["chain"]]
    # the port that paused belongs to the node; what it paused is its neighbour's egress
    held = [(int(peer), int(node)) for node, peer in egresses("chain")]
    return Episode(
        formed=formed,
        cycle=tuple(egresses("cycle")),
        stuck=frozenset(egresses("stuck")),
        chain=tuple(zip(chain["time_ps"].astype(float), held, strict=True)),
    )


def _network(run: RunTables) -> Topology:
    import pyorch.config  # noqa: F401  (registers the kinds of topology)
    from pyorch.config import topology

    network = topology.build(run.spec["topology"])
    switches = int((network.kinds == topology.SWITCH).sum())
    if switches > _MOST_SWITCHES:
        what = f"{switches} switches do not fit into a picture"
        raise FigureError(f"{what}; up to {_MOST_SWITCHES} do")
    return network


# ---------------------------------------------------------------------------------------------
# Where nodes are


def layout(network: Topology) -> dict[int, Place]:
    """Return where to draw each node, in a field about 1.7 wide and 1 high.

    Switches lie in layers by their distance from hosts; where all of them have hosts and their
    links are no chain, they lie on a circle. Hosts lie below, or outside.
    """
    neighbours: dict[int, list[int]] = defaultdict(list)
    for a, b in zip(network.a.tolist(), network.b.tolist(), strict=True):
        neighbours[a].append(b)
        neighbours[b].append(a)
    hosts = set(network.hosts.tolist())
    switches = [node for node in range(len(network.names)) if node not in hosts]
    layers = _layers(switches, hosts, neighbours)
    if max(layers.values()) == 0 and len(switches) > 2:
        places = _circle(switches, neighbours)
        outward = {node: (x * 1.0, y * 1.0) for node, (x, y) in places.items()}
    else:
        places = _rows(switches, layers)
        outward = dict.fromkeys(places, (0.0, -1.0))
    for switch in switches:
        own = [node for node in neighbours[switch] if node in hosts]
        places |= _beside(places[switch], outward[switch], own)
    return places


def _layers(
    switches: Sequence[int], hosts: set[int], neighbours: Mapping[int, Sequence[int]]
) -> dict[int, int]:
    layers = {node: 0 for node in switches if any(n in hosts for n in neighbours[node])}
    front = list(layers)
    while front:
        front = [
            node for known in front for node in neighbours[known] if node not in {*layers, *hosts}
        ]
        front = list(dict.fromkeys(front))
        layers |= dict.fromkeys(front, max(layers.values()) + 1)
    return layers | {node: 0 for node in switches if node not in layers}


def _circle(switches: Sequence[int], neighbours: Mapping[int, Sequence[int]]) -> dict[int, Place]:
    """Around a circle, from one switch to a neighbour where there is one left."""
    order = [switches[0]]
    while len(order) < len(switches):
        left = [node for node in switches if node not in order]
        near = [node for node in neighbours[order[-1]] if node in left]
        order.append((near or left)[0])
    step = 2 * math.pi / len(order)
    angles = [math.pi / 2 + step / 2 - number * step for number in range(len(order))]
    return {
        node: (0.46 * math.cos(angle), 0.36 * math.sin(angle))
        for node, angle in zip(order, angles, strict=True)
    }


def _rows(switches: Sequence[int], layers: Mapping[int, int]) -> dict[int, Place]:
    places = {}
    height = max(layers.values())
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


# ---------------------------------------------------------------------------------------------
# The picture


@dataclass(frozen=True)
class _Picture:
    """The network, and what is paused when."""

    network: Topology
    places: Mapping[int, Place]
    episode: Episode
    pauses: DataFrame

    def state(self, time: float) -> dict[Egress, str]:
        """Return the egresses that are held back at a time, and how."""
        rows = self.pauses[(self.pauses["start_ps"] <= time) & (self.pauses["end_ps"] > time)]
        held = set(zip(rows["node"].astype(int), rows["peer"].astype(int), strict=True))
        formed = time >= self.episode.formed
        states = dict.fromkeys(held, "paused")
        if formed:
            states |= {egress: "stuck" for egress in self.episode.stuck if egress in held}
            states |= dict.fromkeys(self.episode.cycle, "cycle")
        return states

    def draw(self, axes: Axes, time: float) -> None:
        """Draw the network at a time [ps]."""
        axes.set_axis_off()
        axes.set_aspect("equal")
        states = self.state(time)
        ends = zip(self.network.a.tolist(), self.network.b.tolist(), strict=True)
        for link, (a, b) in enumerate(ends):
            if link in self.network.failed_links:
                xs, ys = zip(self.places[a], self.places[b], strict=True)
                axes.plot(xs, ys, color=_FREE, linewidth=0.8, linestyle=":", zorder=1)
                continue
            for egress in ((a, b), (b, a)):
                self._link(axes, egress, states.get(egress, "free"))
        self._nodes(axes)
        self._chain(axes, time)
        axes.text(
            0.01,
            0.99,
            f"{time / 1e6:.1f} µs" + (": deadlock" if time >= self.episode.formed else ""),
            transform=axes.transAxes,
            va="top",
            fontsize=9,
            color=_CYCLE if time >= self.episode.formed else "0.2",
        )
        xs, ys = zip(*self.places.values(), strict=True)
        axes.set_xlim(min(xs) - 0.12, max(xs) + 0.12)
        axes.set_ylim(min(ys) - 0.1, max(ys) + 0.12)
        _legend(axes)

    def _link(self, axes: Axes, egress: Egress, state: str) -> None:
        start, end = _beside_line(self.places[egress[0]], self.places[egress[1]])
        colour, width = {
            "free": (_FREE, 0.8),
            "paused": (_PAUSED, 1.6),
            "stuck": (_STUCK, 1.6),
            "cycle": (_CYCLE, 2.8),
        }[state]
        if state == "free":
            axes.plot(*zip(start, end, strict=True), color=colour, linewidth=width, zorder=1)
            return
        axes.annotate(
            "",
            xy=end,
            xytext=start,
            zorder=3 if state == "cycle" else 2,
            arrowprops={
                "arrowstyle": "-|>",
                "color": colour,
                "linewidth": width,
                "mutation_scale": 9,
                "shrinkA": 0,
                "shrinkB": 0,
            },
        )

    def _nodes(self, axes: Axes) -> None:
        hosts = set(self.network.hosts.tolist())
        small = len(hosts) > 16
        for node, (x, y) in self.places.items():
            if node in hosts:
                axes.plot(x, y, "o", color="0.6", markersize=2.5 if small else 5, zorder=4)
                if not small:
                    axes.annotate(
                        self.network.names[node],
                        (x, y),
                        xytext=(5, -2),
                        textcoords="offset points",
                        fontsize=5.5,
                        color="0.4",
                    )
                continue
            axes.text(
                x,
                y,
                self.network.names[node],
                ha="center",
                va="center",
                fontsize=6.5,
                zorder=5,
                bbox={
                    "boxstyle": "round,pad=0.35",
                    "facecolor": "white",
                    "edgecolor": "0.3",
                    "linewidth": 0.8,
                },
            )

    def _chain(self, axes: Axes, time: float) -> None:
        """Number the pauses of the chain that have come by now, near who sent them."""
        seen: dict[Egress, list[int]] = defaultdict(list)
        chain = self.episode.chain
        for number, (when, egress) in enumerate(chain, start=1):
            early = number == 1 or len(chain) - number < _MOST_NUMBERS
            if when <= time and early:
                seen[egress].append(number)
        for egress, numbers in seen.items():
            start, end = _beside_line(self.places[egress[0]], self.places[egress[1]])
            x, y = (start[0] + 3 * end[0]) / 4, (start[1] + 3 * end[1]) / 4
            later = [number for number in numbers if number > 1]
            if 1 in numbers:
                axes.plot(x, y, "*", color=_CHAIN, markersize=15, zorder=6, markeredgecolor="white")
                axes.text(x, y, "1", **_NUMBER)
                x, y = (3 * start[0] + 2 * end[0]) / 5, (3 * start[1] + 2 * end[1]) / 5
            if later:
                few = later if len(later) < 4 else [*later[:2], later[-1]]
                axes.text(x, y, ",".join(map(str, few)), bbox=_BOX, **_NUMBER)

    def table(self, time: float) -> DataFrame:
        """Return what the picture says: node, peer, state at a time; and the chain."""
        import pandas as pd

        names = self.network.names
        rows = [
            {"what": state, "node": names[node], "peer": names[peer], "time_ps": time}
            for (node, peer), state in sorted(self.state(time).items())
        ]
        rows += [
            {"what": f"chain {number}", "node": names[node], "peer": names[peer], "time_ps": when}
            for number, (when, (node, peer)) in enumerate(self.episode.chain, start=1)
        ]
        return pd.DataFrame(rows)


def _beside_line(a: Place, b: Place) -> tuple[Place, Place]:
    """Return the ends of one direction of a link: a little to its right, and short of the nodes."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    length = math.hypot(dx, dy) or 1.0
    ux, uy = dx / length, dy / length
    shift, short = 0.011, min(0.05, 0.25 * length)
    start = (a[0] + short * ux + shift * uy, a[1] + short * uy - shift * ux)
    end = (b[0] - short * ux + shift * uy, b[1] - short * uy - shift * ux)
    return start, end


def _legend(axes: Axes) -> None:
    from matplotlib.lines import Line2D

    entries = [
        Line2D([], [], color=_PAUSED, linewidth=1.6, label="paused"),
        Line2D([], [], color=_CYCLE, linewidth=2.8, label="wait for each other"),
        Line2D([], [], color=_STUCK, linewidth=1.6, label="stuck behind them"),
        Line2D(
            [], [], color=_CHAIN, marker="*", linestyle="", markersize=9, label="initial trigger"
        ),
        Line2D([], [], color=_CHAIN, marker="s", linestyle="", label="causal chain"),
    ]
    axes.legend(handles=entries, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncol=5)


def _animate(model: DeadlockMap, picture: _Picture, begin: float, formed: float) -> bytes:
    """Return an animated PNG from the first pause to the deadlock; the last picture stays."""
    from PIL import Image

    pictures = []
    for number in range(model.frames + 1):
        time = begin + (formed - begin) * number / model.frames
        canvas, panels = model.canvas(1, 1, height=model.height or 3.6)
        picture.draw(panels[0][0], time)
        pictures.append(_image(canvas))
    palette = pictures[-1].quantize(colors=64)
    frames = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in pictures]
    durations = [150] * model.frames + [_HOLD_MS]
    file = io.BytesIO()
    frames[0].save(
        file,
        format="PNG",
        save_all=True,
        append_images=frames[1:],
        duration=durations,
        loop=0,
        optimize=True,
    )
    return file.getvalue()


def _image(canvas: Canvas) -> Any:
    from PIL import Image

    file = io.BytesIO()
    canvas.savefig(file, format="png", dpi=_FRAME_DPI, metadata={"Software": None})
    file.seek(0)
    return Image.open(file).convert("RGB")
