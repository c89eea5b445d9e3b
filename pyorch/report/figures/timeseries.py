"""timeseries: queues, rates and pauses of ports over time, panels stacked and side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, model_validator
from typing_extensions import override

from pyorch.metrics import Need
from pyorch.metrics.fields import Chosen, Entry, Port, TrafficClass
from pyorch.metrics.pause_kinds import SIDES, Side
from pyorch.metrics.series_kinds import check_column, read_series, series_need, series_unit
from pyorch.report.figures.base import (
    Drawn,
    FigureError,
    Mark,
    draw_marks,
    figure,
    show_value,
)
from pyorch.report.figures.overtime import OverTime, seed_note
from pyorch.report.quantities import UNITS, AxisUnit, Scale, automatic, scale
from pyorch.report.style import COLOURS, label_axis, line_style

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from numpy.typing import NDArray
    from pandas import DataFrame

    from pyorch.metrics import RunTables
    from pyorch.report.data import ReportData

    Floats = NDArray[np.float64]

_MOST_POINTS = 3000  # more than a printed column can show


class Row(Entry):
    """One row of panels: a table, the port (or several), a class, a label and a unit."""

    table: str
    port: Port | Chosen[Port]
    column: str | None = None
    class_number: TrafficClass | None = Field(default=None, alias="class")
    side: Side = "paused"
    label: str = ""
    unit: AxisUnit | None = None
    marks: list[Mark] = Field(default=[])

    @model_validator(mode="after")
    def _check(self) -> Row:
        if self.table != "pause":
            check_column(self.table, self.column)
        base = series_unit(self.table, self.column)
        if self.unit is not None and self.table != "pause" and UNITS[self.unit] != base:
            raise ValueError(f"'unit' {self.unit} does not fit a series in {base}")
        return self

    @property
    def ports(self) -> list[str]:
        """All ports of the row."""
        return [self.port] if isinstance(self.port, str) else list(self.port)

    def need(self, port: str) -> Need:
        """What must be traced of one of the ports."""
        return series_need(self.table, self.column, port, self.class_number)


@dataclass(frozen=True)
class Line:
    """Points of one line: times [ps] and levels in base units."""

    name: str
    times: Floats
    levels: Floats


@figure
class Timeseries(OverTime):
    """Panels over time: one row of panels an entry of `rows`, one column a value of `columns`.

    Time axes are shared by all panels, value axes by the panels of a row.
    """

    kind: Literal["timeseries"] = "timeseries"
    rows: list[Row] = Field(min_length=1)

    @override
    def needs(self) -> list[Need]:
        return [row.need(port) for row in self.rows for port in row.ports]

    @override
    def draw(self, data: ReportData) -> Drawn:
        import pandas as pd

        panels = self.panels(data)
        loaded = [data.run(rows["hash"].iloc[0]) for _, rows in panels]
        stop, clock = self.clock(loaded)
        canvas, axes = self.canvas(
            len(self.rows),
            len(panels),
            height=0.6 + 1.25 * len(self.rows),
            sharex=True,
            sharey="row",
        )
        parts = []
        for i, row in enumerate(self.rows):
            lines = [self._lines(row, run, stop) for run in loaded]
            shown = _scale(row, lines)
            for j, (value, _) in enumerate(panels):
                _draw_panel(axes[i][j], lines[j], clock, shown, pause=row.table == "pause")
                parts += [_table(line, row, show_value(self.columns, value)) for line in lines[j]]
            _finish_row(axes[i], row, shown)
            draw_marks(axes[i], [rows for _, rows in panels], row.marks, shown)
        for j, (value, _) in enumerate(panels):
            axes[0][j].set_title(show_value(self.columns, value))
            self.label_time(axes[-1][j], clock, stop)
        canvas.align_ylabels()
        return Drawn(canvas, pd.concat(parts, ignore_index=True), [seed_note(panels)])

    def _lines(self, row: Row, run: RunTables, stop: float) -> list[Line]:
        lines = []
        for port in row.ports:
            name = port if len(row.ports) > 1 else ""
            points = self._points(row, port, run, int(stop))
            if points is None:
                missing = row.need(port)
                raise FigureError(
                    f"the runs have no data of {missing}; add a [[trace]] and run again"
                )
            lines.append(Line(name, *points))
        return lines

    def _points(
        self, row: Row, port: str, run: RunTables, stop: int
    ) -> tuple[Floats, Floats] | None:
        import numpy as np

        if row.table == "pause":
            return _pause_points(run, port, row.class_number, row.side, stop)
        series = read_series(run, row.table, row.column, port, row.class_number)
        if series is None:
            return None
        begin, values, length = series.clip(self.start, stop)
        if not len(begin):
            return None
        times = np.append(begin, begin[-1] + length[-1]).astype(np.float64)
        return thin(times, np.append(values, values[-1]))


def thin(times: Floats, values: Floats) -> tuple[Floats, Floats]:
    """At most _MOST_POINTS points of a step line that keep every visible peak and trough.

    Of each group of neighbours the lowest and the highest stay, in their order in time.
    """
    import numpy as np

    if len(times) <= _MOST_POINTS:
        return times, values
    groups = np.array_split(np.arange(len(times)), _MOST_POINTS // 2)
    kept = {0, len(times) - 1}
    for group in groups:
        kept.add(int(group[values[group].argmin()]))
        kept.add(int(group[values[group].argmax()]))
    index = np.array(sorted(kept))
    return times[index], values[index]


def _pause_points(
    run: RunTables, port: str, class_number: int | None, side: Side, stop: int
) -> tuple[Floats, Floats] | None:
    """0 / 1 over time: whether the port is paused (or pausing) at least in one class."""
    import numpy as np

    table, ends = run.table("pause"), run.resolve(port)
    if table is None or ends is None or not run.is_traced(Need("pause", port, class_number)):
        return None
    mask = (table["node"] == ends[0]) & (table["peer"] == ends[1]) & (table["side"] == SIDES[side])
    if class_number is not None:
        mask &= table["class"] == class_number
    starts = np.asarray(table["start_ps"])[np.asarray(mask)].astype(np.float64)
    finish = np.asarray(table["end_ps"])[np.asarray(mask)].astype(np.float64)
    times = np.concatenate([starts, finish])
    change = np.concatenate([np.ones(len(starts)), -np.ones(len(finish))])
    order = np.lexsort((-change, times))
    level = (np.cumsum(change[order]) > 0).astype(np.float64)
    times = np.concatenate([[0.0], times[order], [float(stop)]])
    return times, np.concatenate([[0.0], level, level[-1:] if len(level) else [0.0]])


def _scale(row: Row, lines: list[list[Line]]) -> Scale:
    if row.table == "pause":
        return Scale(1, "")
    if row.unit is not None:
        return scale(row.unit)
    top = [float(line.levels.max()) for column in lines for line in column]
    return automatic(series_unit(row.table, row.column), top)


def _draw_panel(axes: Axes, lines: list[Line], clock: Scale, shown: Scale, *, pause: bool) -> None:
    for index, line in enumerate(lines):
        times, values = line.times / clock.factor, line.levels / shown.factor
        style: dict[str, Any] = line_style(index)
        if pause:
            axes.fill_between(times, values * 0.8 + index, index, step="post", color=COLOURS[index])
        else:
            axes.plot(times, values, drawstyle="steps-post", label=line.name, **style)
    if pause:
        axes.set_ylim(-0.1, len(lines))
        axes.set_yticks([index + 0.4 for index in range(len(lines))])
        axes.set_yticklabels([line.name for line in lines])
        axes.grid(visible=False, axis="y")


_TABLES = {
    "queue": "Ingress queue",
    "egress": "Egress queue",
    "rate": "Rate",
    "pause": "Paused",
}


def _finish_row(panels: list[Axes], row: Row, shown: Scale) -> None:
    name = row.label or _TABLES.get(row.table, row.table)
    panels[0].set_ylabel(label_axis(name, shown.label))
    if row.table == "pause":
        return
    low, high = panels[0].get_ylim()
    panels[0].set_ylim(min(low, 0) if low < 0 and high <= 0 else 0, high * 1.04)
    if len(row.ports) > 1:
        panels[0].legend(loc="best", handlelength=2.2)


def _table(line: Line, row: Row, panel: str) -> DataFrame:
    import pandas as pd

    return pd.DataFrame(
        {
            "panel": panel,
            "table": row.table,
            "port": line.name or row.ports[0],
            "time_ps": line.times.astype("int64"),
            "value": line.levels,
        }
    )
