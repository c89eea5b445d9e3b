"""cdf and slowdown: distributions over flows, pooled over seeds, unfinished flows counted."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, model_validator
from typing_extensions import override

from pyorch.metrics.fields import Size, TrafficClass
from pyorch.metrics.flow_kinds import FctSlowdown, flow_times, percentile_of, samples_needed
from pyorch.report.figures.base import (
    Drawn,
    FigureError,
    FigureModel,
    figure,
    hue_title,
    legend_below,
    panels_of,
    seeds_note,
    show_value,
)
from pyorch.report.quantities import AxisUnit, automatic, scale, show
from pyorch.report.select import value_text, values_of
from pyorch.report.style import COLOURS, DASHES, MARKERS, label_axis, line_style

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from numpy.typing import NDArray
    from pandas import DataFrame

    from pyorch.report.data import ReportData

    Floats = NDArray[np.float64]


class FlowFigure(FigureModel):
    """A figure over the finite flows that start inside [warm-up, duration) of the runs."""

    hue: str | None = "variant"
    columns: str | None = None
    class_number: TrafficClass | None = Field(default=None, alias="class")
    min_size: Size | None = None
    max_size: Size | None = None

    @override
    def axes_columns(self) -> list[str]:
        return [name for name in (self.hue, self.columns) if name]

    def flows(self, data: ReportData, hashes: Iterable[str], slowdown: bool) -> DataFrame:
        """size_bytes and value of the flows of some runs; +inf where unfinished."""
        import pandas as pd

        filters = self.model_dump(include={"class_number", "min_size", "max_size"})
        chosen = FctSlowdown.model_validate({"name": "flows", **filters})
        parts = []
        for run_hash in hashes:
            run = data.run(run_hash)
            mask, table = chosen.finite(run), run.table("flow")
            if mask is not None and table is not None:
                values = flow_times(table, mask, slowdown)
                parts.append(
                    pd.DataFrame({"size_bytes": table["size_bytes"][mask], "value": values})
                )
        if not sum(len(part) for part in parts):
            raise FigureError("no finite flow starts between the warm-up and the duration")
        return pd.concat(parts, ignore_index=True)

    def groups(
        self, data: ReportData, slowdown: bool
    ) -> list[tuple[Any, list[tuple[str, DataFrame]]]]:
        """[(panel, [(hue, flows)])]. Raises FigureError when flows of several settings mix."""
        result = []
        for panel, in_panel in panels_of(self.rows_of(data), self.columns):
            lines = []
            for hue, rows in panels_of(in_panel, self.hue):
                others = [name for name in data.settings if name not in self.axes_columns()]
                mixed = [name for name in others if len(values_of(rows, name)) > 1]
                if mixed:
                    raise FigureError(
                        f"flows of several values of {', '.join(mixed)} would mix; use it as "
                        "'hue' or 'columns', or choose with 'where'"
                    )
                name = value_text(hue) if self.hue else ""
                lines.append((name, self.flows(data, rows["hash"], slowdown)))
            result.append((panel, lines))
        return result


def unfinished_note(groups: list[tuple[Any, list[tuple[str, DataFrame]]]]) -> list[str]:
    """How many flows did not finish; nothing when all did."""
    values = [flows["value"] for _, lines in groups for _, flows in lines]
    total = sum(len(part) for part in values)
    unfinished = sum(int(part.map(math.isinf).sum()) for part in values)
    if not unfinished:
        return []
    return [f"{unfinished:,} of {total:,} flows did not finish; they count as infinite."]


@figure
class Cdf(FlowFigure):
    """Distribution of FCT or slowdown over flows.

    A curve that ends below 1 has unfinished flows.
    """

    kind: Literal["cdf"] = "cdf"
    value: Literal["fct", "slowdown"] = "slowdown"
    unit: AxisUnit | None = None
    log_x: bool = True

    @override
    def draw(self, data: ReportData) -> Drawn:
        import pandas as pd

        groups = self.groups(data, self.value == "slowdown")
        values = [v for _, lines in groups for _, flows in lines for v in flows["value"]]
        finite = [v for v in values if math.isfinite(v)]
        base = "ps" if self.value == "fct" else "1"
        shown = scale(self.unit) if self.unit else automatic(base, [max(finite, default=1.0)])
        canvas, axes = self.canvas(1, len(groups), sharey=True, sharex=True)
        parts = []
        for panel, (value, lines) in zip(axes[0], groups, strict=True):
            for index, (name, flows) in enumerate(lines):
                at, share = cumulative(flows["value"].to_numpy())
                if not len(at):
                    raise FigureError(f"no flow of {name or 'the figure'} finished")
                style = line_style(index)
                panel.plot(at / shown.factor, share, drawstyle="steps-post", label=name, **style)
                columns = {"panel": show_value(self.columns, value), "line": name}
                parts.append(pd.DataFrame({**columns, "value": at, "share": share}))
            panel.set_title(show_value(self.columns, value))
            name = "Flow completion time" if self.value == "fct" else "FCT slowdown"
            panel.set_xlabel(label_axis(name, shown.label))
            panel.set_ylim(0, 1.02)
            if self.log_x:
                plain_log_axis(panel, "x")
        axes[0][0].set_ylabel("Share of flows")
        legend_below(canvas, axes[0][0], title=hue_title(self.hue))
        notes = [f"Flows of all seeds together, {seeds_note(self.rows_of(data))}."]
        return Drawn(canvas, pd.concat(parts, ignore_index=True), notes + unfinished_note(groups))


def cumulative(values: Floats) -> tuple[Floats, Floats]:
    """(value, share of all flows that are not above it), unfinished flows in the denominator.

    At most about 2,000 points: those at even steps of the share, and both ends.
    """
    import numpy as np

    ordered = np.sort(values)
    share = np.arange(1, len(ordered) + 1) / len(ordered)
    finite = int(np.isfinite(ordered).sum())
    index = np.unique(np.linspace(0, max(finite - 1, 0), 2000).astype(int))[: max(finite, 0)]
    return ordered[index], share[index]


@figure
class Slowdown(FlowFigure):
    """FCT slowdown by flow size: one line a percentile and hue, one panel a value of `columns`.

    `edges` are the borders of the size buckets. A percentile is drawn only where a bucket has
    the flows for it (ten beyond it: p99 from 1,000).
    """

    kind: Literal["slowdown"] = "slowdown"
    percentiles: list[float] = Field(default=[50, 99], min_length=1)
    edges: list[Size] = Field(
        default=[10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000], min_length=1
    )
    log_y: bool = True

    @model_validator(mode="after")
    def _check(self) -> Slowdown:
        if sorted(set(self.edges)) != self.edges:
            raise ValueError("'edges' must grow")
        if not all(0 < p < 100 for p in self.percentiles):
            raise ValueError("'percentiles' lie between 0 and 100")
        return self

    @override
    def draw(self, data: ReportData) -> Drawn:
        import pandas as pd

        groups = self.groups(data, slowdown=True)
        found = [
            (show_value(self.columns, panel), name, *row)
            for panel, lines in groups
            for name, flows in lines
            for row in self._buckets(flows)
        ]
        names = ["panel", "line", "bucket", "flows", "percentile", "slowdown"]
        table = pd.DataFrame(found, columns=names)
        canvas, axes = self.canvas(1, len(groups), sharey=True, height=2.5)
        used = sorted(table.loc[table["slowdown"].notna(), "bucket"].unique())
        for panel, (value, lines) in zip(axes[0], groups, strict=True):
            title = show_value(self.columns, value)
            part = table[table["panel"] == title]
            if not part["slowdown"].map(math.isfinite).any():
                raise FigureError(f"{title or 'the figure'}: too few flows for any percentile")
            for index, (name, _) in enumerate(lines):
                self._draw_lines(panel, part[part["line"] == name], used, index)
            panel.set_title(title)
            self._x_axis(panel, used)
            if self.log_y:
                plain_log_axis(panel, "y")
        axes[0][0].set_ylabel("FCT slowdown")
        names = [name for name, _ in groups[0][1]]
        _legend(canvas, names, self.percentiles, hue_title(self.hue))
        return Drawn(canvas, table, self._notes(table, groups, data))

    def _buckets(self, flows: DataFrame) -> list[tuple[int, int, float, float | None]]:
        import numpy as np

        bucket = np.digitize(flows["size_bytes"], self.edges)
        result = []
        for index in range(len(self.edges) + 1):
            values = flows["value"].to_numpy()[bucket == index]
            for p in self.percentiles:
                result.append((index, len(values), p, percentile_of(values, p)))
        return result

    def _draw_lines(self, axes: Axes, part: DataFrame, used: list[int], index: int) -> None:
        for number, p in enumerate(self.percentiles):
            line = part[part["percentile"] == p].set_index("bucket")["slowdown"].astype(float)
            # no line across a bucket that has too few flows
            line = line.where(line.map(math.isfinite)).reindex(used)
            axes.plot(
                range(len(used)),
                line,
                color=COLOURS[index % len(COLOURS)],
                linestyle=DASHES[number % len(DASHES)],
                marker=MARKERS[index % len(MARKERS)],
                markerfacecolor=COLOURS[index % len(COLOURS)] if number == 0 else "white",
            )

    def _x_axis(self, axes: Axes, used: list[int]) -> None:
        labels = [self._bucket_name(index) for index in used]
        crowded = len(labels) > 4
        axes.set_xticks(
            range(len(used)),
            labels,
            rotation=35 if crowded else 0,
            ha="right" if crowded else "center",
            rotation_mode="anchor",
        )
        axes.set_xlim(-0.4, len(used) - 0.6)
        axes.set_xlabel("Flow size")

    def _bucket_name(self, index: int) -> str:
        if index == len(self.edges):
            return f"≥ {show(self.edges[-1], 'B')}"
        if index == 0:
            return f"< {show(self.edges[0], 'B')}"
        low, high = show(self.edges[index - 1], "B"), show(self.edges[index], "B")
        same_unit = low.split()[1] == high.split()[1]
        return f"{low.split()[0] if same_unit else low}–{high}"

    def _notes(self, table: DataFrame, groups: Any, data: ReportData) -> list[str]:
        needed = [f"p{p:g} from {samples_needed(p):,}" for p in self.percentiles]
        pooled = f"Flows of all seeds together, {seeds_note(self.rows_of(data))}"
        notes = [f"{pooled}; a percentile needs enough flows ({', '.join(needed)})."]
        infinite = int(table["slowdown"].map(lambda v: v is not None and math.isinf(v)).sum())
        if infinite:
            notes.append(f"{infinite} points lie among unfinished flows (infinite), not drawn.")
        return notes + unfinished_note(groups)


def plain_log_axis(axes: Axes, which: Literal["x", "y"]) -> None:
    """A logarithmic axis with ticks 1, 2, 5, 10 ... written out; few when it spans much."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axis = axes.xaxis if which == "x" else axes.yaxis
    (axes.set_xscale if which == "x" else axes.set_yscale)("log")
    low, high = axis.get_view_interval()
    wide = high / max(low, 1e-12) > 300
    axis.set_major_locator(LogLocator(10, subs=(1.0,) if wide else (1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axis.set_minor_locator(NullLocator())


def _legend(canvas: Any, names: list[str], percentiles: list[float], title: str | None) -> None:
    from matplotlib.lines import Line2D

    handles: list[Line2D] = []
    for index, name in enumerate(names):
        if name:
            colour = COLOURS[index % len(COLOURS)]
            marker = MARKERS[index % len(MARKERS)]
            handles.append(Line2D([], [], color=colour, marker=marker, label=name))
    for number, p in enumerate(percentiles):
        name = "median" if p == 50 else f"p{p:g}"
        dash = DASHES[number % len(DASHES)]
        handles.append(Line2D([], [], color="0.3", linestyle=dash, label=name))
    canvas.legend(
        handles=handles, loc="outside lower center", ncols=min(len(handles), 6), title=title
    )
