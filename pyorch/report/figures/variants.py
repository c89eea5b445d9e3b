"""Metrics of many variants: names are listed down the side, so that long ones fit."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field
from typing_extensions import override

from pyorch.base.lazy import pd
from pyorch.base.units import short_key
from pyorch.metrics.fields import EntryName
from pyorch.report.figures.base import (
    AS_GIVEN,
    ESTIMATED,
    VALUE_POINTS,
    WHISKERS,
    Drawn,
    FigureError,
    FigureModel,
    ends,
    figure,
    interval_note,
    seeds_text,
    short_number,
)
from pyorch.report.quantities import AxisUnit, Scale, automatic, plain_name, scale
from pyorch.report.select import having, values_of
from pyorch.report.style import COLOURS, label_axis, plain_log_ticks, seaborn

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pyorch.report.data import ReportData


_ROOM = 0.12
"""Room next to the longest bar for its value [of the axis]."""
_DECADE = 10
MOST_BARS = 60


@figure
class Variants(FigureModel):
    """One bar per variant and swept values, a panel per metric; whiskers: intervals over seeds.

    Without either there is one bar.
    """

    kind: Literal["variants"] = "variants"
    metrics_: list[EntryName] = Field(
        alias="metrics", min_length=1, max_length=4, description="The metrics."
    )
    unit: AxisUnit | None = Field(
        default=None, description="Unit of the numbers; none: as fits the data."
    )

    log_x: bool = Field(
        default=False,
        description="Logarithmic axes, where all values of a metric are above 0 and span a decade.",
    )

    @override
    def metrics(self) -> list[str]:
        return list(self.metrics_)

    @override
    def check_layout(self, data: ReportData) -> None:
        bars = _bars(data, self.rows_of(data))
        if len(bars) > MOST_BARS:
            swept = ", ".join(_swept(data, self.rows_of(data)))
            what = f"{len(bars)} bars, of which {MOST_BARS} fit, as {swept} varies, too"
            raise FigureError(f"{what}: fix it with 'where'")

    @override
    def draw(self, data: ReportData) -> Drawn:
        self.check_layout(data)
        table = _estimates(data, _bars(data, self.rows_of(data)), self.metrics_)
        if table["mean"].isna().all():
            raise FigureError(f"no run has a value of {', '.join(self.metrics_)}")
        names = values_of(table, "variant")
        height = 0.17 * len(names) + 0.7
        canvas, axes = self.canvas(1, len(self.metrics_), height=height, sharey=True)
        for panel, metric in zip(axes[0], self.metrics_, strict=True):
            part = table[table["metric"] == metric]
            shown = (
                scale(self.unit)
                if self.unit
                else automatic(data.unit(metric), part["mean"].dropna())
            )
            seaborn().barplot(
                ends(part.assign(at=part["variant"].map(names.index)), shown),
                x="value",
                y="at",
                orient="h",
                order=range(len(names)),
                width=0.7,
                color=COLOURS[0],
                saturation=1,
                ax=panel,
                **AS_GIVEN,
                **WHISKERS,
            )
            least, most = part["mean"].min() / shown.factor, part["mean"].max() / shown.factor
            if self.log_x and most > _DECADE * least > 0:
                panel.set_xscale("log")
                panel.set_xlim(least / 2, panel.get_xlim()[1])
                plain_log_ticks(panel.xaxis, _DECADE)  # panels are narrow
            _label_bars(panel, part, names, shown)
            panel.set_ylabel("")  # of the column
            panel.set_yticks(range(len(names)), names)
            panel.set_ylim(len(names) - 0.5, -0.5)
            panel.grid(visible=False, axis="y")
            panel.set_xlabel(label_axis(plain_name(metric), shown.label))
        return Drawn(canvas, table, [interval_note(table, seeds_text(map(int, table["n"])))])


def _label_bars(axes: Axes, part: pd.DataFrame, names: list[Any], shown: Scale) -> None:
    """Write the value of each bar next to it and its interval."""
    to_axis = axes.transScale + axes.transLimits  # the room is a share of either kind of axis
    high = to_axis.inverted().transform((1 + _ROOM, 0))[0]
    axes.set_xlim(right=high)
    for name, mean, end in zip(part["variant"], part["mean"], part["high"], strict=True):
        if math.isfinite(mean):
            axes.annotate(
                short_number(mean / shown.factor),
                (max(mean, end) / shown.factor, names.index(name)),
                xytext=(2, 0),
                textcoords="offset points",
                va="center",
                fontsize=VALUE_POINTS,
            )


def _swept(data: ReportData, rows: pd.DataFrame) -> list[str]:
    """The parameters besides the variant that differ among runs."""
    return [name for name in data.parameters if len(values_of(rows, name)) > 1]


def _bars(data: ReportData, rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The runs of each bar, by its name: the variant, and what else differs."""
    columns = ["variant"] if "variant" in rows.columns else []
    bars = {"": rows}
    swept = _swept(data, rows)
    for column in [*columns, *swept]:
        name = "" if column == "variant" else f"{short_key(column, swept)} "
        bars = {
            ", ".join(filter(None, [start, name + ("" if value is None else str(value))])): some
            for start, part in bars.items()
            for value in values_of(part, column)
            if len(some := having(part, column, value))
        }
    return bars


def _estimates(data: ReportData, bars: dict[str, pd.DataFrame], metrics: list[str]) -> pd.DataFrame:
    lines = []
    for name, own in bars.items():
        for metric in metrics:
            e = data.estimate(metric, own)
            lines.append([name, metric, e.mean, e.low, e.high, e.n, e.spread])
    return pd.DataFrame(lines, columns=["variant", "metric", *ESTIMATED])
