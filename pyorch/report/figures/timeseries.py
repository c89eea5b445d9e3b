"""timeseries: queues, rates and pauses of ports over time, panels stacked and side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, model_validator
from typing_extensions import override

from pyorch.base.lazy import np, pd
from pyorch.metrics import Need, RunTables, parse_quantity
from pyorch.metrics.fields import Chosen, Entry, OfClass, Port
from pyorch.metrics.pause_kinds import SIDES, Side
from pyorch.metrics.series_kinds import check_column, read_series, series_need, series_unit
from pyorch.report.figures import live
from pyorch.report.figures.base import (
    Drawn,
    FigureError,
    Mark,
    draw_marks,
    figure,
    show_value,
)
from pyorch.report.figures.overtime import OverTime, seed_note
from pyorch.report.quantities import UNITS, AxisUnit, Scale, automatic, scale, show_text
from pyorch.report.select import matching
from pyorch.report.style import COLOURS, label_axis, line_style, plain_log_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from pyorch.report.data import ReportData

    Floats = NDArray[np.float64]

_MOST_POINTS = 3000  # more than a column can show in print
_OF_A_GROUP = 3  # maximum points that a group keeps when a line is thinned
_LIVE_POINTS = 24000  # of all lines of a figure on the page: some 100 KB


class Row(Entry):
    """One row of panels: a table, the port (or several), a class, a label and a unit."""

    table: str = Field(
        description="'queue', 'egress', 'rate', 'flow_rate', 'pause', or a module's table."
    )
    port: Port | Chosen[Port] = Field(description="A port, or a list: a line each.")
    column: str | None = Field(default=None, description="As of the metric `max`.")
    class_number: OfClass = None
    side: Side = Field(
        default="pausing",
        description="Of 'pause': the port pauses its neighbour, or the neighbour pauses it.",
    )
    label: str = Field(default="", description="Name of the axis.")
    unit: AxisUnit | None = Field(
        default=None, description="Unit of the axis; none: as fits the data."
    )
    marks: list[Mark] = Field(default=[], description="Reference lines.")
    log_y: bool = Field(
        default=False, description="Logarithmic axis, for levels that differ by powers of ten."
    )

    @model_validator(mode="after")
    def _check(self) -> Row:
        if self.table == "pause" and self.log_y:
            raise ValueError("'log_y' needs levels: a row of 'pause' is paused or not")
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

    def thinned(self, most: int = _MOST_POINTS) -> Line:
        """The same line with at most so many points."""
        return Line(self.name, *thin(self.times, self.levels, most))


_END: dict[str, Any] = {"color": "0.5", "linewidth": 0.8, "linestyle": (0, (1, 2)), "zorder": 1.4}
END_NOTE = "Dotted, upright: the senders stop."


@figure
class Timeseries(OverTime):
    """Panels over time: one row of panels per entry of `rows`, one column per value of `columns`.

    Time axes are shared by all panels, value axes by the panels of a row.
    """

    kind: Literal["timeseries"] = "timeseries"
    rows: list[Row] = Field(min_length=1, description="Rows of panels.")

    @override
    def needs(self) -> list[Need]:
        return [row.need(port) for row in self.rows for port in row.ports]

    @override
    def draw(self, data: ReportData) -> Drawn:

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
        drawn: list[_DrawnRow] = []
        for i, row in enumerate(self.rows):
            whole = [self._lines(row, run, stop) for run in loaded]
            lines = [[line.thinned() for line in column] for column in whole]
            shown = _scale(row, lines)
            marks = [
                [mark for mark in row.marks if len(matching(rows, mark.where))]
                for _, rows in panels
            ]
            drawn.append(_DrawnRow(row, whole, shown, marks))
            for j, (value, _) in enumerate(panels):
                _draw_panel(axes[i][j], lines[j], clock, shown, pause=row.table == "pause")
                parts += [_table(line, row, show_value(self.columns, value)) for line in whole[j]]
            _finish_row(axes[i], row, shown, lines)
            draw_marks(axes[i], [rows for _, rows in panels], row.marks, shown)
        for j, (value, _) in enumerate(panels):
            axes[0][j].set_title(self.title_of(value))
            self.label_time(axes[-1][j], clock, stop)
        canvas.align_ylabels()
        titles = [self.title_of(value) for value, _ in panels]
        shown_time = (self.start / clock.factor, stop / clock.factor)
        ends = [self._traffic_ends(run, stop) for run in loaded]
        for column, end in enumerate(ends):
            for row_of in axes if end else ():
                row_of[column].axvline(end / clock.factor, **_END)
        draw_live = partial(_live, drawn, titles, clock, shown_time, ends)
        notes = [seed_note(panels), *([END_NOTE] if any(ends) else [])]
        return Drawn(canvas, pd.concat(parts, ignore_index=True), notes, draw_live)

    def _traffic_ends(self, run: RunTables, stop: float) -> float:
        """When the senders stop [ps], if the window continues beyond that; else 0."""
        end = float(run.setting.run.duration)
        return end if run.setting.run.drain and self.start < end < stop else 0.0

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

        if row.table == "pause":
            return _pause_points(run, port, row.class_number, row.side, stop)
        series = read_series(run, row.table, row.column, port, row.class_number)
        if series is None:
            return None
        begin, values, length = series.clip(self.start, stop)
        if not len(begin):
            return None
        times = np.append(begin, begin[-1] + length[-1]).astype(np.float64)
        return times, np.append(values, values[-1])


def thin(times: Floats, values: Floats, most: int = _MOST_POINTS) -> tuple[Floats, Floats]:
    """At most so many points of a step line that keep every peak, every trough and the time mean.

    Each group of neighbours keeps its lowest and highest level. The rarer of the two begins where
    it does in the line, and lasts long enough to preserve the group's time mean. Keeping points as
    they are would not work: a peak would last until the next kept point.
    """
    if len(times) <= most:
        return times, values
    found: list[tuple[float, float]] = []
    bounds = np.linspace(0, len(times) - 1, most // _OF_A_GROUP).astype(int)
    for first, after in pairwise(bounds.tolist()):
        found += _group(times[first : after + 1], values[first:after])
    found.append((float(times[-1]), float(values[-1])))
    index = np.array(found)
    return index[:, 0], index[:, 1]


def _group(times: Floats, values: Floats) -> list[tuple[float, float]]:
    """Replace a group of a step line by two levels; times includes the group's end."""
    begin, end = float(times[0]), float(times[-1])
    low, high = float(values.min()), float(values.max())
    if low == high:
        return [(begin, low)]
    above = float(np.dot(values - low, np.diff(times))) / (high - low)
    above = min(above, end - begin)
    rare, usual, lasts = (high, low, above)
    if above > (end - begin) / 2:
        rare, usual, lasts = (low, high, end - begin - above)
    where = int((values == rare).argmax())
    start = min(float(times[where]), end - lasts)
    points = [(start, rare), (start + lasts, usual)]
    return points if start <= begin else [(begin, usual), *points]


def _pause_points(
    run: RunTables, port: str, class_number: int | None, side: Side, stop: int
) -> tuple[Floats, Floats] | None:
    """0 / 1 over time: whether the port is paused (or pausing) at least in one class."""
    table, ends = run.find_table("pause"), run.resolve(port)
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
    if pause:
        for index, line in enumerate(lines):
            top = line.levels * 0.8 + index
            axes.fill_between(
                line.times / clock.factor, top, index, step="post", color=COLOURS[index]
            )
        axes.set_ylim(-0.1, len(lines))
        axes.set_yticks([index + 0.4 for index in range(len(lines))], [line.name for line in lines])
        axes.grid(visible=False, axis="y")
        return
    for index, line in enumerate(lines):
        axes.plot(
            line.times / clock.factor,
            line.levels / shown.factor,
            drawstyle="steps-post",
            label=line.name,
            **line_style(index),
        )


_TABLES = {
    "queue": "Ingress queue",
    "egress": "Egress queue",
    "rate": "Rate",
    "pause": "Paused",
}


def _lowest(lines: list[list[Line]]) -> float:
    """The lowest end of a logarithmic axis: the lowest level that is not 0, in base units."""
    above = [line.levels[line.levels > 0] for column in lines for line in column]
    return min((float(levels.min()) for levels in above if len(levels)), default=1.0)


def _finish_row(panels: list[Axes], row: Row, shown: Scale, lines: list[list[Line]]) -> None:
    name = row.label or _TABLES.get(row.table, row.table)
    panels[0].set_ylabel(label_axis(name, shown.label))
    if row.table == "pause":
        return
    low, high = panels[0].get_ylim()
    # panels whose runs have lines of their own also show those of their neighbours
    high = max([high, *(parse_quantity(mark.value).value / shown.factor for mark in row.marks)])
    if row.log_y:
        for panel in panels:
            plain_log_axis(panel, "y")
        panels[0].set_ylim(_lowest(lines) / shown.factor, high * 1.2)
    else:
        panels[0].set_ylim(min(low, 0) if low < 0 and high <= 0 else 0, high * 1.04)
    if len(row.ports) > 1:
        _add_legend(panels, len(row.ports))


_CORNERS: tuple[tuple[Literal["upper left", "upper right"], float, float], ...] = (
    ("upper left", 0.0, 0.6),
    ("upper right", 0.4, 1.0),
)
"""Positions of a legend, and the range of a panel's width that each covers."""


def _add_legend(panels: list[Axes], names: int) -> None:
    """Put the legend into an empty upper corner of a panel, or make room above all lines."""
    share = min(0.6, 0.06 + 0.14 * names)
    for panel in panels:
        for corner, begin, end in _CORNERS:
            if _is_free(panel, begin, end, 1 - share):
                panel.legend(loc=corner, handlelength=2.2)
                return
    top = panels[0].get_ylim()[1]
    panels[0].set_ylim(top=top / (1 - share))
    panels[0].legend(loc="upper left", handlelength=2.2)


def _is_free(panel: Axes, begin: float, end: float, bottom: float) -> bool:
    """Whether a part of a panel, given in shares of width and height, is free of step lines."""
    floor = bottom * panel.get_ylim()[1]
    for line in panel.get_lines():
        times, values = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
        first, last = times[0], times[-1]
        inside = (times[1:] >= first + begin * (last - first)) & (
            times[:-1] <= first + end * (last - first)
        )
        if (values[:-1][inside] > floor).any():
            return False
    return True


@dataclass(frozen=True)
class _DrawnRow:
    """A row of panels with all its points: lines and marks by panel, and the unit shown."""

    row: Row
    lines: list[list[Line]]
    shown: Scale
    marks: list[list[Mark]]

    @property
    def is_pause(self) -> bool:
        """Whether its lines are areas, stacked."""
        return self.row.table == "pause"

    @property
    def has_legend(self) -> bool:
        """Whether its lines can only be told apart by a legend."""
        return len(self.row.ports) > 1 and not self.is_pause

    @property
    def label(self) -> str:
        """The name of its value axis."""
        return label_axis(
            self.row.label or _TABLES.get(self.row.table, self.row.table), self.shown.label
        )

    def labels(self, column: int) -> bool:
        """Whether a panel's marks are labelled there; not if the next panel has them as well."""
        here, *following = self.marks[column : column + 2]
        return bool(here) and [here] != following


def _live(
    rows: list[_DrawnRow],
    titles: list[str],
    clock: Scale,
    times: tuple[float, float],
    ends: Sequence[float],
) -> Any:
    """The same panels to zoom into, with as many points as a page can hold."""
    count = sum(len(lines) for row in rows for lines in row.lines)
    most = max(_MOST_POINTS, _LIVE_POINTS // max(count, 1))
    inside = any(drawn.labels(j) for drawn in rows for j in range(len(titles) - 1))
    figure = live.panels(len(rows), titles, 0.7 + 1.5 * len(rows), labels=inside)
    for i, drawn in enumerate(rows):
        for j, lines in enumerate(drawn.lines):
            for index, line in enumerate(lines):
                _add_line(figure, drawn, line.thinned(most), (i, j, index), clock)
            _add_marks(figure, drawn, (i, j))
        figure.update_yaxes(row=i + 1, **_value_axis(drawn))
        figure.update_yaxes(title_text=drawn.label, row=i + 1, col=1)
    for j, end in enumerate(ends):
        if end:
            look = {"color": "#888", "width": 1, "dash": "dot"}
            figure.add_vline(end / clock.factor, col=j + 1, line=look)
    figure.update_xaxes(range=times)
    figure.update_xaxes(title_text=label_axis("Time", clock.label), row=len(rows))
    figure.update_layout(showlegend=any(drawn.has_legend for drawn in rows))
    if any(marks for drawn in rows for marks in drawn.marks):
        figure.update_layout(margin_r=80)
    return figure


def _add_marks(figure: Any, drawn: _DrawnRow, place: tuple[int, int]) -> None:
    """Draw the reference lines of a panel; labels of neighbours are on different sides."""
    row, column = place
    levels = sorted(
        ((parse_quantity(m.value).value, m) for m in drawn.marks[column]), key=lambda one: -one[0]
    )
    for number, (level, mark) in enumerate(levels):
        label = f"{mark.label} {show_text(mark.value)}".strip() if drawn.labels(column) else ""
        live.mark(
            figure,
            (row + 1, column + 1),
            level / drawn.shown.factor,
            label,
            above=number % 2 == 0,
            log=drawn.row.log_y,
        )


def _value_axis(drawn: _DrawnRow) -> dict[str, Any]:
    """Limits and ticks of the value axis of a row."""
    if drawn.is_pause:
        names = [line.name for line in drawn.lines[0]]
        ticks = [index + 0.4 for index in range(len(names))]
        return {"tickvals": ticks, "ticktext": names, "range": [-0.1, len(names)]}
    levels = [line.levels for lines in drawn.lines for line in lines]
    tops = [parse_quantity(mark.value).value for panel in drawn.marks for mark in panel]
    low = min([0.0, *(float(level.min()) for level in levels)])
    high = max([0.0, *tops, *(float(level.max()) for level in levels)]) or drawn.shown.factor
    if drawn.row.log_y:
        ends = (_lowest(drawn.lines) / drawn.shown.factor, high * 1.2 / drawn.shown.factor)
        return {"type": "log", "range": [math.log10(end) for end in ends]}
    return {"range": [low / drawn.shown.factor, high * 1.05 / drawn.shown.factor]}


def _add_line(
    figure: Any, drawn: _DrawnRow, line: Line, place: tuple[int, int, int], clock: Scale
) -> None:
    """Draw a line; a pause is an area between a base and a step line.

    place: number of its row, of its panel in the row, and of the line in the panel.
    """
    i, j, index = place
    pause = drawn.is_pause
    times = live.numbers(line.times / clock.factor)
    levels = line.levels * 0.8 + index if pause else line.levels / drawn.shown.factor
    about: dict[str, Any] = {
        "mode": "lines",
        "name": line.name or drawn.row.ports[0],
        "line": {
            "shape": "hv",
            "color": COLOURS[index % len(COLOURS)],
            "dash": "solid" if pause else live.dash(index),
            "width": 0 if pause else 1.4,
        },
        "legendgroup": f"{i}-{index}",
        # the first panel of a row names its lines
        "showlegend": drawn.has_legend and j == 0,
        "row": i + 1,
        "col": j + 1,
    }
    if pause:
        figure.add_scatter(x=times[[0, -1]], y=[index, index], hoverinfo="skip", **about)
        about |= {"fill": "tonexty", "hoverinfo": "x+name"}
    figure.add_scatter(x=times, y=live.numbers(levels), **about)


def _table(line: Line, row: Row, panel: str) -> pd.DataFrame:

    return pd.DataFrame(
        {
            "panel": panel,
            "table": row.table,
            "port": line.name or row.ports[0],
            "time_ps": line.times.astype("int64"),
            "value": line.levels,
        }
    )
