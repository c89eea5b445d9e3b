"""rank_timeline: what the ranks of jobs did, and when."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from pydantic import Field
from typing_extensions import override

from pyorch.base.lazy import Later
from pyorch.metrics.fields import Chosen
from pyorch.report.figures.base import Drawn, FigureError, figure
from pyorch.report.figures.overtime import OverTime, seed_note
from pyorch.report.style import COLOURS, HATCHES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pyorch.addons.jobs import timeline
    from pyorch.addons.jobs.timeline import Bar
    from pyorch.metrics import RunTables
    from pyorch.report.data import ReportData
else:
    timeline = Later("pyorch.addons.jobs.timeline")

_MOST_LANES = 64
_MOST_NAMES = 24
"""Collectives that the legend names."""
_MOST_CHARACTERS = 40
"""Of a name in the legend."""
_COMPUTE, _PAUSE, _MESSAGE = "0.82", "0.15", COLOURS[5]


@figure
class RankTimeline(OverTime):
    """One lane per host: its parts of collectives, its computations, and pauses of its port.

    `traffic` (labels of entries, default all), `hosts` (default all that take part), `columns` for
    panels. Messages that belong to no collective are drawn as messages. Of a host, what overlaps is
    stacked.
    """

    kind: Literal["rank_timeline"] = "rank_timeline"
    traffic: Chosen[str] | None = Field(
        default=None, description="Labels of [[traffic]] entries; none: all."
    )
    hosts: Chosen[str] | None = Field(
        default=None, description="Up to 64 hosts; none: of more than 64 every second, third, ..."
    )

    @override
    def draw(self, data: ReportData) -> Drawn:
        import pandas as pd
        from matplotlib.patches import Patch

        panels = self.panels(data)
        runs = [data.run(part["hash"].iloc[0]) for _, part in panels]
        bars_of_runs = [self._bars(run) for run in runs]
        # a run that stops when everything has arrived ends before the computations that follow
        last = max((bar.end for bars in bars_of_runs for bar in bars), default=0)
        stop, clock = self.clock(runs, last)
        shown = [self._inside(bars, stop) for bars in bars_of_runs]
        every = self._lanes(runs[0], shown)
        # more hosts than there is room for, and none chosen: take some from all over the network
        lanes = every[:: -(-len(every) // _MOST_LANES)]
        drawn = set(lanes)
        names = list(
            dict.fromkeys(
                (bar.label, bar.name)
                for bars in shown
                for bar in bars
                if bar.category == "collective"
            )
        )
        height = 0.75 + len(panels) * (0.35 + 0.13 * len(lanes))
        canvas, axes = self.canvas(len(panels), 1, height=min(height, 11.5), sharex=True)
        for row, (value, _), bars in zip(axes, panels, shown, strict=True):
            there = [bar for bar in bars if bar.lane in drawn]
            _draw(row[0], there, lanes, names, clock.factor)
            row[0].set_title(self.title_of(value))
            self.label_time(row[0], clock, stop)
            row[0].label_outer()
        jobs = len({label for label, _ in names}) > 1
        handles = [
            Patch(
                facecolor=COLOURS[number % len(COLOURS)],
                hatch=HATCHES[number // len(COLOURS) % len(HATCHES)],
                label=_short(f"{label}: {name}" if jobs else name),
            )
            for number, (label, name) in enumerate(names[:_MOST_NAMES])
        ]
        present = {bar.category for bars in shown for bar in bars}
        for category, colour, text in (
            ("message", _MESSAGE, "message"),
            ("compute", _COMPUTE, "computation"),
            ("pause", _PAUSE, "port paused"),
        ):
            if category in present:
                handles.append(Patch(facecolor=colour, label=text))
        canvas.legend(handles=handles, loc="outside lower center", ncols=min(len(handles), 5))
        table = pd.DataFrame(
            [
                (self.title_of(value), b.lane, b.label, b.name, b.category, b.round, b.begin, b.end)
                for (value, _), bars in zip(panels, shown, strict=True)
                for b in bars
            ],
            columns=["panel", "host", "traffic", "name", "category", "round", "begin_ps", "end_ps"],
        )
        notes = [
            seed_note(panels),
            *dict.fromkeys(note for run in runs for note in timeline.untraced(run)),
        ]
        if len(names) > _MOST_NAMES:
            notes.append(f"The legend names {_MOST_NAMES} of {len(names)} collectives.")
        if len(lanes) < len(every):
            notes.append(f"{len(lanes)} of {len(every)} hosts; choose others with 'hosts'.")
        return Drawn(canvas, table, notes)

    def _bars(self, run: RunTables) -> list[Bar]:
        """The bars of the chosen hosts."""
        table = run.find_table("flow")
        if table is not None and len(table["src"]) < len(run.flows):
            what = f"the table of flows has {len(table['src'])} rows for {len(run.flows)} flows"
            raise FigureError(what)
        hosts = set(run.nodes) if self.hosts is None else set(self.hosts)
        return [bar for bar in timeline.bars_of(run, self.traffic) if bar.lane in hosts]

    def _inside(self, bars: list[Bar], stop: float) -> list[Bar]:
        """The bars in the window, without lanes that have only pauses."""
        bars = [bar for bar in bars if bar.end > self.start and bar.begin < stop]
        busy = {bar.lane for bar in bars if bar.category != "pause"}
        return [bar for bar in bars if bar.lane in busy]

    def _lanes(self, run: RunTables, shown: list[list[Bar]]) -> list[str]:
        """The hosts that have a bar, in the order of their numbers."""
        used = {bar.lane for bars in shown for bar in bars}
        lanes = [name for name in run.nodes if name in used]
        if not lanes:
            raise FigureError("no host has anything to do in the window")
        if self.hosts is not None and len(lanes) > _MOST_LANES:
            what = f"{len(lanes)} hosts do not fit; choose up to {_MOST_LANES} with 'hosts'"
            raise FigureError(what)
        return lanes


def _stacked(bars: list[Bar]) -> Iterator[tuple[Bar, tuple[float, float]]]:
    """Yield bars with the part of their lane that they take.

    Parts of collectives that overlap, each other or computations, share the lane evenly.
    """
    groups: dict[str, list[tuple[Bar, int]]] = defaultdict(list)  # that overlap, and their tracks
    open_bars: dict[str, list[Bar]] = defaultdict(list)  # the last to end of each track
    for bar in sorted(bars, key=lambda bar: (bar.begin, bar.category != "compute")):
        if bar.category == "pause":
            yield bar, (0.08, 0.22)
        elif bar.category == "message":
            yield bar, (-0.35, 0.35)
        else:
            group, last = groups[bar.lane], open_bars[bar.lane]
            if all(other.end <= bar.begin for other in last):
                yield from _shared(group)
                group.clear()
                last.clear()
            track = next((n for n, other in enumerate(last) if _fits(bar, other)), len(last))
            group.append((bar, track))
            last[track : track + 1] = [max([bar, *last[track : track + 1]], key=lambda b: b.end)]
    for group in groups.values():
        yield from _shared(group)


def _fits(bar: Bar, other: Bar) -> bool:
    """Whether a bar can be drawn behind another one; computations hide each other."""
    return other.end <= bar.begin or bar.category == other.category == "compute"


def _shared(group: list[tuple[Bar, int]]) -> Iterator[tuple[Bar, tuple[float, float]]]:
    tracks = 1 + max((track for _, track in group), default=0)
    for bar, track in group:
        yield bar, (-0.35 + 0.7 * track / tracks, -0.35 + 0.7 * (track + 1) / tracks)


def _short(name: str) -> str:
    """A name without its middle where it is too long."""
    half = _MOST_CHARACTERS // 2
    return name if len(name) <= _MOST_CHARACTERS else f"{name[:half]}…{name[-half + 1 :]}"


def _draw(
    axes: Axes, bars: list[Bar], lanes: list[str], names: list[tuple[str, str]], factor: float
) -> None:
    places = {lane: number for number, lane in enumerate(lanes)}
    looks = {("compute", ""): (_COMPUTE, ""), ("message", ""): (_MESSAGE, "")}
    looks["pause", ""] = (_PAUSE, "")
    for number, name in enumerate(names):
        hatch = HATCHES[number // len(COLOURS) % len(HATCHES)]
        looks[name] = (COLOURS[number % len(COLOURS)], hatch)
    spans: dict[tuple[tuple[str, str], float, float], list[tuple[float, float]]] = {}
    for bar, (low, high) in _stacked(bars):
        key = (bar.label, bar.name) if bar.category == "collective" else (bar.category, "")
        span = (bar.begin / factor, (bar.end - bar.begin) / factor)
        spans.setdefault((key, places[bar.lane] + low, high - low), []).append(span)
    for (key, low, height), found in spans.items():
        colour, hatch = looks[key]
        edge = "white" if key[0] != "pause" else colour
        axes.broken_barh(
            found, (low, height), facecolor=colour, hatch=hatch, edgecolor=edge, linewidth=0.2,
            zorder={"message": 2.5, "pause": 3}.get(key[0], 2),
            alpha=0.75 if key[0] == "message" else 1,
        )  # fmt: skip
    axes.set_yticks(range(len(lanes)), lanes)
    axes.set_ylim(len(lanes) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
