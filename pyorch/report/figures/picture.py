"""How a network is drawn: where its nodes are, and what of it is paused at a time."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyorch.layout import Place

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from pyorch.config.topology import Topology

Egress = tuple[int, int]

_FREE, _CYCLE, _CHAIN = "0.82", "#a31621", "#0173b2"
STYLES: dict[str, tuple[str, float, Any]] = {
    "free": (_FREE, 0.8, "-"),
    "paused": ("#e8a33d", 1.6, "-"),
    "cycle": (_CYCLE, 2.8, "-"),
    "stuck": ("#d9603b", 1.6, (0, (3, 1.5))),
}
"""Colour, width and dashes of an egress by its state; widths and dashes tell them apart in grey."""
NAMES = {"paused": "paused", "cycle": "wait for each other", "stuck": "stuck behind them"}
"""What the legend calls each state."""
_MOST_NUMBERS = 12
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
class Picture:
    """The network, and what is paused when."""

    network: Topology
    places: Mapping[int, Place]
    episode: Episode | None
    pauses: DataFrame

    def state(self, time: float) -> dict[Egress, str]:
        """Return the egresses that are held back at a time, and how."""
        rows = self.pauses[(self.pauses["start_ps"] <= time) & (self.pauses["end_ps"] > time)]
        held = set(zip(rows["node"].astype(int), rows["peer"].astype(int), strict=True))
        states = dict.fromkeys(held, "paused")
        if self.episode is not None and self.deadlocked(time):
            states |= {egress: "stuck" for egress in self.episode.stuck if egress in held}
            states |= dict.fromkeys(self.episode.cycle, "cycle")
        return states

    def deadlocked(self, time: float) -> bool:
        """Whether the deadlock is there at a time [ps]."""
        return self.episode is not None and time >= self.episode.formed

    def draw(self, axes: Axes, time: float, *, wide: bool = True) -> None:
        """Draw the network at a time [ps]; wide: over two columns of a paper."""
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
            self.title(time),
            transform=axes.transAxes,
            va="top",
            fontsize=9,
            color=_CYCLE if self.deadlocked(time) else "0.2",
        )
        xs, ys = zip(*self.places.values(), strict=True)
        axes.set_xlim(min(xs) - 0.12, max(xs) + 0.12)
        axes.set_ylim(min(ys) - 0.1, max(ys) + 0.12)
        _legend(axes, deadlock=self.episode is not None, wide=wide)

    def title(self, time: float) -> str:
        """What is said of a time [ps]."""
        return clock_text(time) + (": deadlock" if self.deadlocked(time) else "")

    def _link(self, axes: Axes, egress: Egress, state: str) -> None:
        start, end = self.ends(egress)
        colour, width, dashes = STYLES[state]
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
                "linestyle": dashes,
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

    def ends(self, egress: Egress) -> tuple[Place, Place]:
        """Return where the line of an egress begins and ends."""
        return _beside_line(self.places[egress[0]], self.places[egress[1]])

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
            for number, (when, (node, peer)) in enumerate(
                () if self.episode is None else self.episode.chain, start=1
            )
        ]
        return pd.DataFrame(rows)


def clock_text(time: float) -> str:
    """A time [ps] as a picture and its slider say it: "370.9 µs"."""
    return f"{time / 1e6:.1f} µs"


def _beside_line(a: Place, b: Place) -> tuple[Place, Place]:
    """Return the ends of one direction of a link: a little to its right, and short of the nodes."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    length = math.hypot(dx, dy) or 1.0
    ux, uy = dx / length, dy / length
    shift, short = 0.011, min(0.05, 0.25 * length)
    start = (a[0] + short * ux + shift * uy, a[1] + short * uy - shift * ux)
    end = (b[0] - short * ux + shift * uy, b[1] - short * uy - shift * ux)
    return start, end


def _legend(axes: Axes, *, deadlock: bool, wide: bool) -> None:
    from matplotlib.lines import Line2D

    named = {state: STYLES[state] for state in (NAMES if deadlock else ("paused",))}
    entries = [
        Line2D([], [], color=colour, linewidth=width, linestyle=dashes, label=NAMES[state])
        for state, (colour, width, dashes) in named.items()
    ]
    if deadlock:
        star: dict[str, Any] = {"marker": "*", "linestyle": "", "markersize": 9}
        entries += [
            Line2D([], [], color=_CHAIN, label="initial trigger", **star),
            Line2D([], [], color=_CHAIN, marker="s", linestyle="", label="causal chain"),
        ]
    axes.legend(
        handles=entries,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        ncol=5 if wide else 2,
    )
