"""line, bars and heatmap: a metric over parameters, mean and interval over seeds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field
from typing_extensions import override

from pyorch.base.lazy import pd
from pyorch.metrics import parse_quantity
from pyorch.metrics.fields import Chosen, EntryName
from pyorch.report.figures.base import (
    AS_GIVEN,
    ESTIMATED,
    VALUE_POINTS,
    WHISKERS,
    Drawn,
    FigureError,
    FigureModel,
    Mark,
    cell_colours,
    draw_marks,
    ends,
    figure,
    hue_title,
    interval_note,
    legend_below,
    number_cells,
    numeric,
    panels_of,
    seeds_note,
    short_number,
    show_value,
)
from pyorch.report.figures.names import text_size
from pyorch.report.quantities import AxisUnit, Scale, automatic, plain_name, scale
from pyorch.report.select import value_text, values_of
from pyorch.report.style import (
    COLOURS,
    COLUMN_INCHES,
    HATCHES,
    cycle,
    label_axis,
    leave_headroom,
    line_style,
    plain_log_axis,
    seaborn,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

    from pyorch.report.data import ReportData


_MOST_TICKS = 10
_TICK_POINTS = 7
_SLANT = 35
"""Angle of names that are wider than their groups of bars [degrees]."""
_OF_BARS = 0.8
"""Share of a figure's width that bars take."""


class ParameterFigure(FigureModel):
    """A figure of one or more metrics `y` over the parameter `x`.

    `hue` ("variant" or a parameter) makes the lines or groups of bars, `columns` the panels.
    `from_zero = false` starts the value axis near the least value instead of at 0.
    """

    x: str = Field(description="'variant' or a swept parameter.")
    y: EntryName | Chosen[EntryName] = Field(
        description="A metric, or a list of metrics in one unit."
    )
    hue: str | None = Field(
        default=None, description="What lines or bars tell apart: 'variant' or a swept parameter."
    )
    columns: str | None = Field(
        default=None, description="A panel for each value of 'variant' or a swept parameter."
    )
    x_label: str = Field(default="", description="Name of the axis.")
    y_label: str = Field(default="", description="Name of the axis.")
    x_unit: AxisUnit | None = Field(
        default=None, description="Unit of the axis; none: as fits the data."
    )
    y_unit: AxisUnit | None = Field(
        default=None, description="Unit of the axis; none: as fits the data."
    )
    log_y: bool = Field(default=False, description="Logarithmic axis.")
    from_zero: bool = Field(default=True, description="False: the value axis starts near the data.")
    marks: list[Mark] = Field(default=[], description="Reference lines.")

    @property
    def ys(self) -> list[str]:
        """All metrics of the figure."""
        return [self.y] if isinstance(self.y, str) else list(self.y)

    @override
    def metrics(self) -> list[str]:
        return self.ys

    @override
    def on_one_axis(self) -> list[str]:
        return self.ys

    @override
    def axes_columns(self) -> list[str]:
        return [name for name in (self.x, self.hue, self.columns) if name]

    def estimates(self, data: ReportData) -> tuple[pd.DataFrame, list[str]]:
        """Tidy means: panel, hue, x, mean, low, high, n, of; and notes on what is not drawn.

        Raises FigureError when a panel holds nothing or a point mixes several settings.
        """
        found = []
        for (panel, hue, x), group in self._points(data):
            for metric in self.ys:
                e = data.estimate(metric, group)
                n_metrics = len(self.ys)
                parts = [value_text(hue)] if self.hue else []
                if n_metrics > 1:
                    parts.append(plain_name(metric))
                name = ", ".join(parts)
                found.append((panel, name, x, e.mean, e.low, e.high, e.n, e.spread))
        names = ["panel", "line", "x", *ESTIMATED]
        table = pd.DataFrame(found, columns=names)
        for panel, part in panels_of(table, "panel" if self.columns else None):
            if not part["mean"].map(math.isfinite).any():
                place = show_value(self.columns, panel) or "the figure"
                raise FigureError(f"{place}: no run has a value of {', '.join(self.ys)}")
        return table, self._notes(table, self.rows_of(data))

    @override
    def check_layout(self, data: ReportData) -> None:
        for _ in self._points(data):
            pass

    def _points(self, data: ReportData) -> Iterator[tuple[tuple[Any, Any, Any], pd.DataFrame]]:
        """(values of panel, hue and x) and the runs of every point. Raises FigureError."""
        others = [name for name in data.settings if name not in self.axes_columns()]
        for panel, in_panel in panels_of(self.rows_of(data), self.columns):
            for hue, in_hue in panels_of(in_panel, self.hue):
                for x, group in panels_of(in_hue, self.x):
                    _one_setting(group, others)
                    yield (panel, hue, x), group

    def _notes(self, table: pd.DataFrame, rows: pd.DataFrame) -> list[str]:
        notes = []
        if self.log_y and (unseen := int((table["mean"] <= 0).sum())):
            notes.append(
                f"{_points(unseen)} not above 0 and cannot be shown on a logarithmic axis."
            )
        notes.append(interval_note(table, seeds_note(rows)))
        infinite = int(table["mean"].map(math.isinf).sum())
        absent = int((table["n"] == 0).sum())
        if infinite:
            notes.append(f"{_points(infinite)} infinite (unfinished flows) and not drawn.")
        if absent:
            have = "point has" if absent == 1 else "points have"
            notes.append(f"{absent} {have} no value and cannot be drawn.")
        return notes

    def y_scale(self, data: ReportData, table: pd.DataFrame) -> Scale:
        """Scale of the value axis."""
        if self.y_unit:
            return scale(self.y_unit)
        return automatic(data.unit(self.ys[0]), table["mean"].tolist())

    def finish(self, canvas: Canvas, panels: list[Axes], data: ReportData, shown: Scale) -> None:
        """Draw value axis, reference lines and legend, after the data."""
        for axes in panels:
            if self.log_y:
                plain_log_axis(axes, "y")
        if self.from_zero:
            leave_headroom(panels[0])
        else:
            _hold(panels[0], [parse_quantity(m.value).value / shown.factor for m in self.marks])
        groups = [rows for _, rows in panels_of(self.rows_of(data), self.columns)]
        draw_marks(panels, groups, self.marks, shown)
        first, *others = map(plain_name, self.ys)
        names = ", ".join([first, *(name[:1].lower() + name[1:] for name in others)])
        panels[0].set_ylabel(label_axis(self.y_label or names, shown.label))
        legend_below(canvas, title=hue_title(self.hue))


def _hold(axes: Axes, levels: Sequence[float]) -> None:
    """Widen a value axis so that reference lines lie inside."""
    low, high = axes.get_ylim()
    room = 0.06 * (high - low)
    low, high = (
        min([low, *(level - room for level in levels)]),
        max([high, *(level + room for level in levels)]),
    )
    axes.set_ylim(low, high)


def _points(count: int) -> str:
    return "1 point is" if count == 1 else f"{count} points are"


def _one_setting(group: pd.DataFrame, others: list[str]) -> None:
    mixed = [name for name in others if len(values_of(group, name)) > 1]
    if mixed:
        raise FigureError(
            f"a point would mix several values of {', '.join(mixed)}; use them as 'hue' or "
            "'columns', or choose with 'where'"
        )


@figure
class LineFigure(ParameterFigure):
    """One line per hue over a parameter; the band is the interval over seeds."""

    kind: Literal["line"] = "line"
    log_x: bool = Field(default=False, description="Logarithmic axis.")

    @override
    def draw(self, data: ReportData) -> Drawn:
        table, notes = self.estimates(data)
        xs = values_of(table, "x")
        numbers = numeric(xs)
        panels = panels_of(table, "panel" if self.columns else None)
        canvas, axes = self.canvas(1, len(panels), sharey=True)
        shown = self.y_scale(data, table)
        x_shown = Scale(1, "")
        if numbers is not None:
            x_shown = scale(self.x_unit) if self.x_unit else automatic(numbers[1], numbers[0])
        values = [v / x_shown.factor for v in numbers[0]] if numbers else range(len(xs))
        place = dict(zip(xs, values, strict=True))
        names = values_of(table, "line")
        for panel, (value, part) in zip(axes[0], panels, strict=True):
            for index, name in enumerate(names):
                _draw_line(panel, part[part["line"] == name], place, shown, index)
            panel.set_title(show_value(self.columns, value))
            panel.set_xlabel(label_axis(self.x_label or plain_name(self.x), x_shown.label))
            if numbers is None:
                panel.set_xticks(range(len(xs)), [value_text(x) for x in xs])
            elif self.log_x:
                plain_log_axis(panel, "x", _ticks(values))
        self.finish(canvas, axes[0], data, shown)
        return Drawn(canvas, table, notes)


def _draw_line(
    axes: Axes, part: pd.DataFrame, place: dict[Any, float], shown: Scale, index: int
) -> None:
    seaborn().lineplot(
        ends(part.assign(at=[place[x] for x in part["x"]]), shown),
        x="at",
        y="value",
        err_kws={"alpha": 0.2, "linewidth": 0},
        markeredgewidth=0.4,
        label=part["line"].iloc[0] if len(part) else None,
        legend=False,
        ax=axes,
        **AS_GIVEN,
        **line_style(index, marker=True),
    )
    axes.set(xlabel="", ylabel="")  # of the columns


def _ticks(values: Iterable[float]) -> dict[float, str]:
    """The values of a logarithmic axis as its ticks; none if they are many or too close."""
    ordered = sorted(value for value in set(values) if value > 0)
    if not 1 < len(ordered) <= _MOST_TICKS:
        return {}
    span = math.log(ordered[-1] / ordered[0])
    if min(math.log(b / a) for a, b in pairwise(ordered)) < span / _MOST_TICKS:
        return {}
    return {value: f"{value:,.4g}" for value in ordered}


@figure
class Bars(ParameterFigure):
    """Bars grouped by x, one per hue; whiskers are the interval over seeds."""

    kind: Literal["bars"] = "bars"

    @override
    def draw(self, data: ReportData) -> Drawn:
        table, notes = self.estimates(data)
        panels = panels_of(table, "panel" if self.columns else None)
        canvas, axes = self.canvas(1, len(panels), sharey=True)
        shown = self.y_scale(data, table)
        xs, names = values_of(table, "x"), values_of(table, "line")
        wide = 72 * COLUMN_INCHES[self.width] * _OF_BARS / (len(panels) * len(xs))
        for panel, (value, part) in zip(axes[0], panels, strict=True):
            _draw_bars(panel, part, xs, shown, names)
            # write names below groups of bars, each with this room [pt]: level, slanted, or upright
            texts = [value_text(x) for x in xs]
            sizes = [text_size(text, _TICK_POINTS) for text in texts]
            turned: dict[str, Any] = {"rotation": _SLANT, "ha": "right", "rotation_mode": "anchor"}
            if max(width for width, _ in sizes) < wide:
                turned = {}
            elif wide * math.sin(math.radians(_SLANT)) < 1.2 * sizes[0][1]:  # lines would touch
                turned = {"rotation": 90}
            panel.set_xticks(range(len(texts)), texts, **turned)
            panel.grid(visible=False, axis="x")
            panel.set_title(show_value(self.columns, value))
            if self.x != "variant" or self.x_label:
                panel.set_xlabel(self.x_label or plain_name(self.x))
        tops = table.assign(shown=table["mean"] / shown.factor)["shown"].map(short_number)
        if max(text_size(text, VALUE_POINTS)[0] for text in tops) < wide / len(names):
            for panel, (_, part) in zip(axes[0], panels, strict=True):
                _label_bars(panel, part, xs, shown, names)
        self.finish(canvas, axes[0], data, shown)
        return Drawn(canvas, table, notes)


def _label_bars(
    axes: Axes, part: pd.DataFrame, xs: list[Any], shown: Scale, names: list[Any]
) -> None:
    """Write the value of each bar above it, and above its interval."""
    for bars, name in zip(axes.containers, names, strict=True):
        mine = part[part["line"] == name]
        rows = zip(mine["x"], mine["mean"], mine["high"], strict=True)
        known = [(xs.index(x), mean, high) for x, mean, high in rows if 0 < mean < math.inf]
        for bar, (_, mean, high) in zip(
            [one for one in bars if one.get_height() > 0], sorted(known), strict=True
        ):
            axes.annotate(
                short_number(mean / shown.factor),
                (bar.get_x() + bar.get_width() / 2, max(mean, high) / shown.factor),
                xytext=(0, 1.5),
                textcoords="offset points",
                ha="center",
                fontsize=VALUE_POINTS,
            )


def _draw_bars(
    axes: Axes, part: pd.DataFrame, xs: list[Any], shown: Scale, names: list[Any]
) -> None:
    given = ends(part.assign(at=[xs.index(x) for x in part["x"]]), shown)
    seaborn().barplot(
        given,
        x="at",
        y="value",
        hue="line",
        order=range(len(xs)),
        hue_order=names,
        width=0.8 if len(names) > 1 else 0.5,
        gap=0.08,
        palette=cycle(COLOURS, len(names)),
        saturation=1,
        edgecolor="white",
        linewidth=0,
        legend=False,
        ax=axes,
        **AS_GIVEN,
        **WHISKERS,
    )
    axes.set(xlabel="", ylabel="")  # of the columns
    for name, colour, hatch, bars in zip(
        names, cycle(COLOURS, len(names)), cycle(HATCHES, len(names)), axes.containers, strict=True
    ):
        bars.set_label(name if bars else "_")  # some panels may lack it
        for bar in bars:
            bar.set_hatch(hatch)
            if bar.get_height() == 0 and axes.get_yscale() == "linear":
                # a bar without height would look as if there were no run
                axes.annotate(
                    "0",
                    (bar.get_x() + bar.get_width() / 2, 0),
                    xytext=(0, 1.5),
                    textcoords="offset points",
                    ha="center",
                    fontsize=VALUE_POINTS,
                    color=colour,
                )


@figure
class Heatmap(FigureModel):
    """A metric as colour and number over two parameters `x` and `y`; `columns` makes panels."""

    kind: Literal["heatmap"] = "heatmap"
    x: str = Field(description="'variant' or a swept parameter.")
    y: str = Field(description="'variant' or a swept parameter.")
    value: EntryName = Field(description="The metric.")
    columns: str | None = Field(
        default=None, description="A panel for each value of 'variant' or a swept parameter."
    )
    label: str = Field(default="", description="Name of the colours.")
    unit: AxisUnit | None = Field(
        default=None, description="Unit of the numbers; none: as fits the data."
    )
    x_label: str = Field(default="", description="Name of the axis.")
    y_label: str = Field(default="", description="Name of the axis.")
    numbers: bool = Field(default=True, description="Write the number into each cell.")

    @override
    def metrics(self) -> list[str]:
        return [self.value]

    @override
    def axes_columns(self) -> list[str]:
        return [name for name in (self.x, self.y, self.columns) if name]

    @override
    def check_layout(self, data: ReportData) -> None:
        self._lines().check_layout(data)

    def _lines(self) -> LineFigure:
        """The same numbers as lines."""
        return LineFigure(
            name=self.name,
            x=self.x,
            y=self.value,
            hue=self.y,
            columns=self.columns,
            where=self.where,
        )

    @override
    def draw(self, data: ReportData) -> Drawn:
        table, notes = self._lines().estimates(data)
        finite = table["mean"].where(table["mean"].map(math.isfinite))
        shown = scale(self.unit) if self.unit else automatic(data.unit(self.value), finite.dropna())
        table = table.assign(shown=finite / shown.factor)
        panels = panels_of(table, "panel" if self.columns else None)
        lines = values_of(table, "line")
        canvas, axes = self.canvas(1, len(panels), height=0.9 + 0.27 * len(lines), sharey=True)
        low, high = float(table["shown"].min()), float(table["shown"].max())
        # if all values are equal, start at 0: Matplotlib would choose limits around them
        limits = (low, high) if low < high else (min(low, 0.0), max(high, 0.0) or 1.0)
        for panel, (value, part) in zip(axes[0], panels, strict=True):
            self._panel(panel, part, lines, limits)
            panel.set_title(show_value(self.columns, value))
            panel.set_xlabel(self.x_label or plain_name(self.x))
        axes[0][0].set_ylabel(self.y_label or plain_name(self.y))
        label = label_axis(self.label or plain_name(self.value), shown.label)
        cell_colours(canvas, axes[0], label)
        return Drawn(canvas, table.drop(columns="shown"), notes)

    def _panel(
        self, axes: Axes, part: pd.DataFrame, lines: list[Any], limits: tuple[float, float]
    ) -> None:
        xs = values_of(part, "x")
        grid = part.pivot_table(index="line", columns="x", values="shown", sort=False)
        grid = grid.reindex(index=lines, columns=xs)
        number_cells(axes, grid, self.numbers, vmin=limits[0], vmax=limits[1])
        for x, line in part.loc[part["mean"].map(math.isinf), ["x", "line"]].itertuples(
            index=False
        ):
            place = xs.index(x) + 0.5, lines.index(line) + 0.5
            axes.text(*place, "∞", ha="center", va="center", fontsize=6.5)
        axes.invert_yaxis()
