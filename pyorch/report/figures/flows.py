"""cdf and slowdown: distributions over flows, pooled over seeds, unfinished flows counted."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, model_validator
from typing_extensions import override

from pyorch.base.errors import one_of
from pyorch.base.lazy import np, pd
from pyorch.metrics import RunTables
from pyorch.metrics.fields import Size
from pyorch.metrics.flow_kinds import FlowFilter, flow_times, percentile_of, samples_needed
from pyorch.report.figures.base import (
    Drawn,
    FigureError,
    FigureModel,
    cell_colours,
    figure,
    hue_title,
    legend_below,
    number_cells,
    panels_of,
    seeds_note,
    show_value,
)
from pyorch.report.quantities import AxisUnit, automatic, scale, show
from pyorch.report.select import value_text, values_of
from pyorch.report.style import (
    COLOURS,
    COLUMN_INCHES,
    DASHES,
    MARKERS,
    label_axis,
    line_style,
    plain_log_axis,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from pyorch.report.data import ReportData
    from pyorch.traffic.base import Flows

    Floats = NDArray[np.float64]
    Groups = list[tuple[Any, list[tuple[str, pd.DataFrame]]]]


OF_FLOWS = ("traffic", "src")
"""What tells flows of a run apart, beside what tells runs apart."""
_MOST_NAMES = 4
"""Names of traffic or hosts that a caption lists."""
_LEAST_POINTS = 16.0
"""Width of a panel per bucket at which slanted names do not overlap."""
FILLS: tuple[str, ...] = ("full", "none", "left", "bottom", "top")
"""Fill styles of markers, one per percentile."""


class FlowFigure(FlowFilter, FigureModel):
    """A figure over the finite flows that start inside [warm-up, duration) of the runs."""

    hue: str | None = Field(
        default="variant",
        description="What lines tell apart: 'variant', a swept parameter, or of flows 'traffic', "
        "the label of their entry, or 'src', the host that sends.",
    )
    columns: str | None = Field(
        default=None, description="A panel for each value; as hue, else one for all."
    )

    @override
    def axes_columns(self) -> list[str]:
        return [name for name in (self.hue, self.columns) if name and name not in OF_FLOWS]

    def flows(self, data: ReportData, hashes: Iterable[str], slowdown: bool) -> pd.DataFrame:
        """size_bytes, value, traffic and src (names) of the flows of some runs; +inf: unfinished.

        Flows without a value are left out. Raises FigureError when no flow is left.
        """
        parts = []
        for run_hash in hashes:
            run = data.run(run_hash)
            mask, table = self.finite(run), run.find_table("flow")
            if mask is not None and table is not None:
                sizes, values = table["size_bytes"][mask], flow_times(table, mask, slowdown)
                labels = _labels_of(run, mask)
                hosts = np.array(run.nodes, dtype=object)[np.asarray(table["src"])[mask]]
                columns = {"size_bytes": sizes, "value": values, "traffic": labels, "src": hosts}
                parts.append(pd.DataFrame(columns))
        if not sum(len(part) for part in parts):
            whose = f" of {one_of(self.traffic)}" if self.traffic else ""
            raise FigureError(f"no finite flow{whose} starts between the warm-up and the duration")
        whole = pd.concat(parts, ignore_index=True).dropna()
        if not len(whole):
            raise FigureError("no flow has an ideal time: none had a path when it began")
        return whole

    def counted_note(self, groups: Groups) -> list[str]:
        """What is counted, if that is a part of the flows, or flows of several entries."""
        found = [flows["traffic"].unique() for _, lines in groups for _, flows in lines]
        labels = dict.fromkeys(label for part in found for label in part)
        parts = [f"of {_listed(labels)}"] if self.traffic else []
        parts += [] if self.class_number is None else [f"of class {self.class_number}"]
        for word, hosts in (("from", self.src), ("to", self.dst)):
            parts += [f"{word} {_listed(hosts)}"] if hosts else []
        parts += [] if self.min_size is None else [f"of {show(self.min_size, 'B')} or more"]
        parts += [] if self.max_size is None else [f"below {show(self.max_size, 'B')}"]
        several = "" if self.traffic or len(labels) < 2 else f": those of {_listed(labels)}"
        if parts:
            return [f"Only flows {', '.join(parts)} are counted{several}."]
        return [f"All flows are counted{several}."] if several else []

    def groups(self, data: ReportData, slowdown: bool) -> Groups:
        """[(panel, [(hue, flows)])]. Raises FigureError when flows of several settings mix."""
        found: Groups = []
        for panel, lines in self._runs(data):
            panels: dict[Any, list[tuple[str, pd.DataFrame]]] = {}
            for name, rows in lines:
                for part, some in _split(self.flows(data, rows["hash"], slowdown), self.columns):
                    own = panels.setdefault(part or panel, [])
                    own += [(line or name, few) for line, few in _split(some, self.hue)]
            found += panels.items()
        if len({tuple(name for name, _ in lines) for _, lines in found}) > 1:
            raise FigureError("not every panel would have every line; choose with 'src'")
        return found

    @override
    def check_layout(self, data: ReportData) -> None:
        self._runs(data)

    def _runs(self, data: ReportData) -> Groups:
        """[(panel, [(hue, its runs)])]. Raises FigureError when runs of several settings mix."""
        others = [name for name in data.settings if name not in self.axes_columns()]
        result = []
        hue_column, columns = (None if c in OF_FLOWS else c for c in (self.hue, self.columns))
        for panel, in_panel in panels_of(self.rows_of(data), columns):
            lines = []
            for hue, rows in panels_of(in_panel, hue_column):
                mixed = [name for name in others if len(values_of(rows, name)) > 1]
                if mixed:
                    raise FigureError(
                        f"flows of several values of {', '.join(mixed)} would mix; use it as "
                        "'hue' or 'columns', or choose with 'where'"
                    )
                lines.append((value_text(hue) if hue_column else "", rows))
            result.append((panel, lines))
        return result


def _split(flows: pd.DataFrame, column: str | None) -> list[tuple[str, pd.DataFrame]]:
    """The flows by their own column; all of them, under no name, by any other."""
    if column not in OF_FLOWS:
        return [("", flows)]
    return [(str(name), some) for name, some in flows.groupby(column, sort=False)]


def _labels_of(run: RunTables, mask: NDArray[np.bool_]) -> NDArray[np.object_]:
    """The labels of the [[traffic]] entries that some flows of a run are of."""
    from pyorch.traffic.base import label_of

    if len(run.setting.traffic) == 1:  # spares generating the flows
        return np.full(int(mask.sum()), label_of(run.setting.traffic[0], 0), dtype=object)
    return np.array(run.flows.labels, dtype=object)[run.flows.groups[mask]]


def _listed(names: Iterable[str]) -> str:
    """Names in a row: "background and incast"; of many the first and how many more."""
    known = [*names]
    more = len(known) - _MOST_NAMES
    *first, last = known if more < 2 else [*known[:_MOST_NAMES], f"{more} more"]
    return f"{', '.join(first)} and {last}" if first else last


def unfinished_note(groups: Groups) -> list[str]:
    """How many flows did not finish; nothing when all did."""
    values = [flows["value"] for _, lines in groups for _, flows in lines]
    total = sum(len(part) for part in values)
    unfinished = sum(int(part.map(math.isinf).sum()) for part in values)
    if not unfinished:
        return []
    return [f"{unfinished:,} of {total:,} flows did not finish; they count as infinite."]


@figure
class Cdf(FlowFigure):
    """Distribution of FCT or slowdown over flows, one panel per value of `columns`.

    With `edges`, the borders of size buckets, there is one panel per bucket that has flows. A curve
    that ends below 1 has unfinished flows.
    """

    kind: Literal["cdf"] = "cdf"
    value: Literal["fct", "slowdown"] = Field(default="slowdown", description="What is shown.")
    unit: AxisUnit | None = Field(
        default=None, description="Unit of the axis; none: as fits the data."
    )
    edges: list[Size] = Field(default=[], description="Borders of size buckets, a panel each.")
    log_x: bool = Field(default=True, description="Logarithmic axis.")

    @model_validator(mode="after")
    def _check(self) -> Cdf:
        _check_edges(self.edges)
        if self.edges and self.columns:
            raise ValueError("give one of 'edges' and 'columns': both make panels")
        return self

    @override
    def draw(self, data: ReportData) -> Drawn:

        groups = self._by_size(self.groups(data, self.value == "slowdown"))
        values = [v for _, lines in groups for _, flows in lines for v in flows["value"]]
        finite = [v for v in values if math.isfinite(v)]
        base = "ps" if self.value == "fct" else "1"
        shown = scale(self.unit) if self.unit else automatic(base, [max(finite, default=1.0)])
        canvas, axes = self.canvas(1, len(groups), sharey=True, sharex=True)
        parts = []
        for panel, (value, lines) in zip(axes[0], groups, strict=True):
            title = value if self.edges else show_value(self.columns, value)
            for index, (name, flows) in enumerate(lines):
                at, share = cumulative(flows["value"].to_numpy())
                if not len(at):
                    raise FigureError(f"no flow of {name or 'the figure'} finished")
                style = line_style(index)
                panel.plot(at / shown.factor, share, drawstyle="steps-post", label=name, **style)
                columns = {"panel": title, "line": name}
                parts.append(pd.DataFrame({**columns, "value": at, "share": share}))
            panel.set_title(title)
            name = "Flow completion time" if self.value == "fct" else "FCT slowdown"
            panel.set_xlabel(label_axis(name, shown.label))
            panel.set_ylim(0, 1.02)
            if self.log_x:
                plain_log_axis(panel, "x")
        axes[0][0].set_ylabel("Share of flows")
        legend_below(canvas, title=hue_title(self.hue))
        seeds = f"Flows of all seeds together, {seeds_note(self.rows_of(data))}."
        notes = [*self.counted_note(groups), seeds, *unfinished_note(groups)]
        return Drawn(canvas, pd.concat(parts, ignore_index=True), notes)

    def _by_size(self, groups: Groups) -> Groups:
        """Split the only panel into one for each size bucket; without `edges` return all panels."""
        if not self.edges:
            return groups
        ((_, lines),) = groups
        found = []
        for index, name in enumerate(bucket_names(self.edges)):
            parts = [
                (hue, flows[np.digitize(flows["size_bytes"], self.edges) == index])
                for hue, flows in lines
            ]
            if some := [(hue, part) for hue, part in parts if len(part)]:
                found.append((name, some))
        return found


def cumulative(values: Floats) -> tuple[Floats, Floats]:
    """(value, share of all flows that do not exceed it), with unfinished flows in the denominator.

    At most about 2,000 points: those at even steps of the share, and both ends.
    """
    ordered = np.sort(values)
    share = np.arange(1, len(ordered) + 1) / len(ordered)
    finite = int(np.isfinite(ordered).sum())
    index = np.unique(np.linspace(0, max(finite - 1, 0), 2000).astype(int))[: max(finite, 0)]
    return ordered[index], share[index]


@figure
class Slowdown(FlowFigure):
    """FCT slowdown by flow size: one line per percentile and hue, one panel per value of `columns`.

    `edges` are the borders of the size buckets. A percentile is drawn only where a bucket has
    `min_flows` flows; by default as many as put ten beyond it (the median: 20, p99: 1,000). With
    `cells` there are numbers instead of lines, for more schemes than lines can tell apart: one
    panel per percentile, one row per hue.
    """

    kind: Literal["slowdown"] = "slowdown"
    percentiles: list[float] = Field(
        default=[50, 99], min_length=1, max_length=len(FILLS), description="A line for each."
    )
    edges: list[Size] = Field(
        default=[10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000],
        min_length=1,
        description="Borders of the size buckets.",
    )
    min_flows: int | None = Field(
        default=None,
        ge=1,
        description="Flows that a percentile needs in a bucket; none: enough for ten beyond it.",
    )
    log_y: bool = Field(default=True, description="Logarithmic axis.")
    cells: bool = Field(default=False, description="Numbers instead of lines, for many schemes.")

    @model_validator(mode="after")
    def _check(self) -> Slowdown:
        _check_edges(self.edges)
        if self.cells and self.columns:
            raise ValueError("with 'cells' percentiles make the panels: leave 'columns' out")
        if not all(0 < p < 100 for p in self.percentiles):
            raise ValueError("'percentiles' must be between 0 and 100")
        if len(set(self.percentiles)) < len(self.percentiles):
            raise ValueError("'percentiles' has a duplicate value")
        return self

    @override
    def draw(self, data: ReportData) -> Drawn:

        groups = self.groups(data, slowdown=True)
        table = pd.DataFrame(
            [
                {"panel": show_value(self.columns, panel), "line": name, **row}
                for panel, lines in groups
                for name, flows in lines
                for row in self._buckets(flows)
            ]
        )
        shown = table[table["slowdown"].map(math.isfinite)]
        buckets = [size for size in bucket_names(self.edges) if size in set(shown["size"])]
        if self.cells:
            canvas = self._draw_cells(table, shown, buckets)
            return Drawn(canvas, table, self._notes(table, groups, data))
        canvas, axes = self.canvas(1, len(groups), sharey=True, height=2.5)
        for panel, (value, lines) in zip(axes[0], groups, strict=True):
            title = show_value(self.columns, value)
            part = shown[shown["panel"] == title]
            if not len(part):
                raise FigureError(self._nothing(title, table[table["panel"] == title]))
            for index, (name, _) in enumerate(lines):
                self._draw_lines(panel, part[part["line"] == name], buckets, index)
            panel.set_title(title)
            _bucket_axis(panel, buckets, 72 * COLUMN_INCHES[self.width] / len(groups))
            if self.log_y:
                plain_log_axis(panel, "y")
        axes[0][0].set_ylabel("FCT slowdown")
        names = [name for name, _ in groups[0][1]]
        _legend(canvas, names, self.percentiles, hue_title(self.hue))
        return Drawn(canvas, table, self._notes(table, groups, data))

    def at_most(self, flows: Flows) -> int:
        """At most how many flows of a plan are in its fullest bucket."""
        sizes = flows.sizes[self.counted(flows)]
        return int(np.bincount(np.digitize(sizes, self.edges), minlength=1).max())

    def _buckets(self, flows: pd.DataFrame) -> list[dict[str, Any]]:
        """Every bucket and percentile; a slowdown is NaN where the bucket has too few flows."""
        bucket = np.digitize(flows["size_bytes"], self.edges)
        rows: list[dict[str, Any]] = []
        for index, size in enumerate(bucket_names(self.edges)):
            values = flows["value"].to_numpy()[bucket == index]
            for p in self.percentiles:
                found = percentile_of(values, p, self.min_flows)
                known = {"size": size, "flows": len(values), "percentile": p}
                rows.append({**known, "slowdown": math.nan if found is None else found})
        return rows

    def _draw_cells(self, table: pd.DataFrame, shown: pd.DataFrame, buckets: list[str]) -> Figure:
        """Draw a panel of numbers for each percentile that some bucket has.

        Colours are logarithmic and the same in all panels.
        """
        import matplotlib as mpl

        if not len(shown):
            raise FigureError(self._nothing("", table))
        names = values_of(table, "line")
        percentiles = [p for p in self.percentiles if p in set(shown["percentile"])]
        height = 0.9 + 0.2 * len(names)
        canvas, axes = self.canvas(1, len(percentiles), height=height, sharey=True)
        norm = mpl.colors.LogNorm(shown["slowdown"].min(), max(shown["slowdown"].max(), 1.01))
        for panel, p in zip(axes[0], percentiles, strict=True):
            part = table[table["percentile"] == p]
            grid = part.pivot_table(index="line", columns="size", values="slowdown", sort=False)
            grid = grid.reindex(index=names, columns=buckets)
            number_cells(panel, grid, norm=norm)
            for y, x in np.argwhere(~np.isfinite(grid.to_numpy())):
                panel.text(x + 0.5, y + 0.5, "–", ha="center", va="center", fontsize=6.5)
            panel.set_title(_name_of(p))
            panel.set_xlabel("Flow size")
            panel.set_xticks(panel.get_xticks(), buckets, rotation=35, ha="right")
        cell_colours(canvas, axes[0], "FCT slowdown")
        return canvas

    def _draw_lines(self, axes: Axes, part: pd.DataFrame, buckets: list[str], index: int) -> None:
        colour = COLOURS[index % len(COLOURS)]
        for number, p in enumerate(self.percentiles):
            # no line across a bucket that has too few flows
            line = part[part["percentile"] == p].set_index("size")["slowdown"].reindex(buckets)
            axes.plot(
                range(len(buckets)),
                line,
                color=colour,
                linestyle=DASHES[number % len(DASHES)],
                marker=MARKERS[index % len(MARKERS)],
                **_fill(number, colour),
            )

    def _needed(self) -> str:
        """How many flows each percentile needs: "median from 20, p99 from 1,000"."""
        return ", ".join(
            f"{_name_of(p)} from {samples_needed(p, self.min_flows):,}" for p in self.percentiles
        )

    def _nothing(self, title: str, part: pd.DataFrame) -> str:
        """Why a panel is empty, and what to do."""
        most = part.iloc[int(part["flows"].argmax())]
        what = f"{title}: " if title else ""
        if part["slowdown"].notna().any():
            return f"{what}every percentile lies among unfinished flows"
        return (
            f"{what}too few flows for any percentile ({self._needed()} flows in a bucket; the "
            f"fullest, {most['size']}, has {most['flows']:,}): simulate longer or more seeds, give "
            "fewer 'edges', or set 'min_flows'"
        )

    def _notes(self, table: pd.DataFrame, groups: Groups, data: ReportData) -> list[str]:
        pooled = f"Flows of all seeds together, {seeds_note(self.rows_of(data))}"
        pooled += f"; a percentile needs enough flows in its bucket ({self._needed()})."
        notes = [*self.counted_note(groups), pooled, *self._too_few(table)]
        infinite = int(table["slowdown"].map(math.isinf).sum())
        if infinite:
            verb = "point lies" if infinite == 1 else "points lie"
            notes.append(f"{infinite} {verb} among unfinished flows (infinite), not drawn.")
        return notes + unfinished_note(groups)

    def _too_few(self, table: pd.DataFrame) -> list[str]:
        """Which buckets have flows, but too few in some line for a percentile."""
        parts = []
        short = table[table["slowdown"].isna() & (table["flows"] > 0)]
        for p in self.percentiles:
            rows: pd.DataFrame = short[short["percentile"] == p]
            least = {str(size): int(n) for size, n in rows.groupby("size")["flows"].min().items()}
            names = bucket_names(self.edges)
            found = [f"{size} ({least[size]:,})" for size in names if size in least]
            if len(found) > 2 and not table["slowdown"].where(table["percentile"] == p).any():
                parts.append(f"{_name_of(p)} in every bucket ({rows['flows'].max():,} at most)")
            elif found:
                parts.append(f"{_name_of(p)} in {', '.join(found)}")
        return [f"Too few flows for {'; '.join(parts)}."] if parts else []


def _check_edges(edges: list[int]) -> None:
    if sorted(set(edges)) != edges:
        raise ValueError("'edges' must increase")


def bucket_names(edges: list[int]) -> list[str]:
    """The names of the size buckets between edges [B], smallest first: "< 10 KB", "10–30 KB"."""
    first, last = edges[0], edges[-1]
    between = [_range_name(low, high) for low, high in pairwise(edges)]
    return [f"< {show(first, 'B')}", *between, f"≥ {show(last, 'B')}"]


def _range_name(low: int, high: int) -> str:
    """A bucket between two sizes: "10–30 KB", "300 KB–1 MB"."""
    first, last = show(low, "B"), show(high, "B")
    same_unit = first.split()[1] == last.split()[1]
    return f"{first.split()[0] if same_unit else first}–{last}"


def _name_of(percentile: float) -> str:
    return "median" if percentile == 50 else f"p{percentile:g}"


def _fill(number: int, colour: str) -> dict[str, Any]:
    """Fill style of the marker of the i-th percentile, different for any two."""
    full = {"markerfacecolor": colour, "markerfacecoloralt": "white", "markersize": 4.2}
    if FILLS[number] == "none":
        return full | {"markerfacecolor": "white"}
    return full | {"fillstyle": FILLS[number]}


def _bucket_axis(axes: Axes, buckets: list[str], width: float) -> None:
    """Write the buckets' names: slanted if there are many, vertical if the panel [pt] is narrow."""
    crowded = len(buckets) > 4
    askew = 35 if width > _LEAST_POINTS * len(buckets) else 90
    axes.set_xticks(
        range(len(buckets)),
        buckets,
        rotation=askew if crowded else 0,
        ha="right" if crowded else "center",
        va="center" if crowded and askew == 90 else "top",
        rotation_mode="anchor",
    )
    axes.set_xlim(-0.4, len(buckets) - 0.6)
    axes.set_xlabel("Flow size")


def _legend(canvas: Any, names: list[str], percentiles: list[float], title: str | None) -> None:
    from matplotlib.lines import Line2D

    handles: list[Line2D] = []
    for index, name in enumerate(names):
        if name:
            colour = COLOURS[index % len(COLOURS)]
            marker = MARKERS[index % len(MARKERS)]
            handles.append(Line2D([], [], color=colour, marker=marker, label=name))
    for number, p in enumerate(percentiles):
        dash = DASHES[number % len(DASHES)]
        style: dict[str, Any] = {"marker": "o", **_fill(number, "0.3")}
        handles.append(Line2D([], [], color="0.3", linestyle=dash, label=_name_of(p), **style))
    canvas.legend(
        handles=handles, loc="outside lower center", ncols=min(len(handles), 6), title=title
    )
