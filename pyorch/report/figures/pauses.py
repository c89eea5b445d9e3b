"""pause_timeline: who paused whom, when, and for how long."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field
from typing_extensions import override

from pyorch.metrics import Need
from pyorch.metrics.fields import Chosen, Port, TrafficClass
from pyorch.metrics.pause_kinds import SIDES, Side
from pyorch.report.figures import live
from pyorch.report.figures.base import (
    Drawn,
    FigureError,
    figure,
    show_value,
)
from pyorch.report.figures.overtime import OverTime, seed_note
from pyorch.report.quantities import Scale
from pyorch.report.style import COLOURS, label_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from pyorch.metrics import RunTables
    from pyorch.report.data import ReportData

_MOST_LANES = 40


@figure
class PauseTimeline(OverTime):
    """One lane per port and class, one bar per pause interval.

    `ports` (default: every port with a pause), `class`, `side` ("pausing": the port pauses its
    neighbour; "paused": it is being paused), window `from`..`until`, `columns` for panels.
    """

    kind: Literal["pause_timeline"] = "pause_timeline"
    ports: Chosen[Port] | None = None
    class_number: TrafficClass | None = Field(default=None, alias="class")
    side: Side = "pausing"

    @override
    def needs(self) -> list[Need]:
        return [Need("pause", port, self.class_number) for port in self.ports or (None,)]

    @override
    def draw(self, data: ReportData) -> Drawn:
        import pandas as pd

        panels = self.panels(data)
        runs = [data.run(part["hash"].iloc[0]) for _, part in panels]
        stop, clock = self.clock(runs)
        tables = [self._intervals(run, stop) for run in runs]
        lanes = list(dict.fromkeys(lane for table in tables for lane in table["lane"]))
        lanes = sorted(set(self._lanes()) | set(lanes))
        self._check(lanes, tables)
        canvas, axes = self.canvas(
            1, len(panels), height=0.75 + 0.17 * len(lanes), sharex=True, sharey=True
        )
        for panel, (value, _), table in zip(axes[0], panels, tables, strict=True):
            _draw_lanes(panel, table, lanes, clock)
            panel.set_title(show_value(self.columns, value))
            self.label_time(panel, clock, stop)
        parts = [
            table.assign(panel=show_value(self.columns, value))
            for (value, _), table in zip(panels, tables, strict=True)
        ]
        who = "Paused by the neighbour" if self.side == "paused" else "Pausing the neighbour"
        notes = [f"{who}: port (node → neighbour) and class.", seed_note(panels)]
        empty = [
            show_value(self.columns, v)
            for (v, _), t in zip(panels, tables, strict=True)
            if not len(t)
        ]
        if empty:
            notes.append(f"No pause at all in: {', '.join(empty)}.")
        titles = [show_value(self.columns, value) for value, _ in panels]
        shown_time = (self.start / clock.factor, stop / clock.factor)
        draw_live = partial(_live, tables, titles, lanes, clock, shown_time)
        return Drawn(canvas, pd.concat(parts, ignore_index=True), notes, draw_live)

    def _lanes(self) -> list[str]:
        if self.class_number is None:
            return []
        return [f"{port.replace(':', ' → ')}, {self.class_number}" for port in self.ports or ()]

    def _check(self, lanes: list[str], tables: list[DataFrame]) -> None:
        if not any(len(table) for table in tables):
            raise FigureError("there is no pause in the window")
        if len(lanes) > _MOST_LANES:
            raise FigureError(
                f"{len(lanes)} ports and classes do not fit; choose up to {_MOST_LANES} "
                "with 'ports'"
            )

    def _intervals(self, run: RunTables, stop: float) -> DataFrame:
        """lane, start_ps, end_ps of the pauses in the window."""
        import pandas as pd

        table = run.find_table("pause")
        if table is None:
            raise FigureError("the runs have no table 'pause'; add a [[trace]] and run again")
        rows = pd.DataFrame(
            {name: table[name] for name in ("node", "peer", "class", "side", "start_ps", "end_ps")}
        )
        rows = rows[rows["side"] == SIDES[self.side]]
        if self.class_number is not None:
            rows = rows[rows["class"] == self.class_number]
        rows = rows[(rows["end_ps"] > self.start) & (rows["start_ps"] < stop)]
        ports = [
            f"{run.nodes[node]}:{run.nodes[peer]}"
            for node, peer in zip(rows["node"], rows["peer"], strict=True)
        ]
        lanes = [
            f"{port.replace(':', ' → ')}, {number}"
            for port, number in zip(ports, rows["class"], strict=True)
        ]
        rows = rows.assign(lane=lanes)
        if self.ports:
            rows = rows[[port in self.ports for port in ports]]
        return rows[["lane", "start_ps", "end_ps"]]


def _draw_lanes(axes: Axes, table: DataFrame, lanes: list[str], clock: Scale) -> None:
    for index, lane in enumerate(lanes):
        part = table[table["lane"] == lane]
        starts = part["start_ps"] / clock.factor
        lengths = (part["end_ps"] - part["start_ps"]) / clock.factor
        spans = list(zip(starts, lengths, strict=True))
        axes.broken_barh(spans, (index - 0.36, 0.72), facecolor=COLOURS[0], linewidth=0)
    axes.set_yticks(range(len(lanes)), lanes)
    axes.set_ylim(len(lanes) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")


def _live(
    tables: list[DataFrame],
    titles: list[str],
    lanes: list[str],
    clock: Scale,
    shown_time: tuple[float, float],
) -> Any:
    """The same lanes to zoom into."""
    figure = live.panels(1, titles, 1.0 + 0.2 * len(lanes))
    for column, table in enumerate(tables, start=1):
        figure.add_bar(
            orientation="h",
            y=table["lane"],
            base=live.numbers(table["start_ps"] / clock.factor),
            x=live.numbers((table["end_ps"] - table["start_ps"]) / clock.factor),
            marker={"color": COLOURS[0], "line": {"width": 0}},
            width=0.7,
            hovertemplate=f"%{{y}}<br>from %{{base}} for %{{value}} {clock.label}<extra></extra>",
            row=1,
            col=column,
        )
    figure.update_xaxes(title_text=label_axis("Time", clock.label), range=shown_time)
    ends = [len(lanes) - 0.4, -0.6]
    figure.update_yaxes(categoryorder="array", categoryarray=lanes, range=ends, showgrid=False)
    return figure.update_layout(showlegend=False, barmode="overlay")
