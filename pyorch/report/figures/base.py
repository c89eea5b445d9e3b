"""The registry of figures, and what all figures share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, get_args

from pydantic import Field, PrivateAttr

from pyorch.base.lazy import Kinds, np, pd
from pyorch.metrics import Need, parse_quantity
from pyorch.metrics.fields import Chosen, Entry, EntryName, QuantityText, Where
from pyorch.report.figures.names import text_size
from pyorch.report.quantities import Scale, show_text
from pyorch.report.select import filter_text, having, matching, value_text, values_of
from pyorch.report.style import COLUMN_INCHES, plain_log_ticks, seaborn

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas
    from matplotlib.layout_engine import LayoutEngine
    from matplotlib.legend import Legend
    from plotly.graph_objects import Figure as PlotlyFigure

    from pyorch.report.data import ReportData


class FigureError(Exception):
    """A figure cannot be drawn; the message says why, for the report."""


@dataclass(frozen=True)
class Drawn:
    """A drawn figure, the data behind it (written as CSV), and notes for its caption.

    live: makes the same as a Plotly figure, which the page shows if it can; None: no such figure.
    """

    canvas: Canvas
    data: pd.DataFrame
    notes: Sequence[str] = ()
    live: Callable[[], PlotlyFigure] | None = None


_MOST_BESIDE = 0.35
"""Share of the width that a legend next to the panels may take; a wider one goes below them."""
_TITLE_POINTS = 8.5
"""Size of the letters of a title."""


class Finding(Entry):
    """What a figure shows, in a sentence, and the metrics whose expectations support it."""

    text: str = Field(min_length=1, description="The sentence.")
    metrics: Chosen[str] = Field(description="The metrics.")


class FigureModel(Entry):
    """A [[figure]] entry. `where` filters the runs; `width` is "one" or "two" columns.

    `finding` is the title, and `title` the beginning of the caption, while all expectations of its
    metrics agree.
    """

    name: EntryName = Field(description="Name of its files.")
    kind: str
    title: str = Field(default="", description="Its title.")
    finding: Finding | None = Field(
        default=None,
        description="The title while all expectations of its metrics agree; `title` then "
        "begins the caption.",
    )
    caption: str = Field(default="", description="Text below it.")
    where: Where = Field(
        default={},
        description="The runs that it shows, by variant and swept parameters; a list selects "
        "any of its values.",
    )
    width: Literal["one", "two"] = Field(
        default="two", description="Columns of a paper: 3.35 or 7.0 inches."
    )
    height: float | None = Field(
        default=None, gt=0.5, lt=12, description="Inches; none: as the kind needs."
    )

    _default_height: float = PrivateAttr(default=2.2)

    def found(self, agreed: Mapping[str, bool]) -> str:
        """The text of its finding, if that holds, else "".

        agreed: for every metric with an expectation, whether all of them agree.
        """
        finding = self.finding
        holds = finding and all(agreed.get(metric, False) for metric in finding.metrics)
        return finding.text if finding and holds else ""

    def headed(self, agreed: Mapping[str, bool]) -> Self:
        """The figure with its finding as title, if that holds; agreed: as for `found`."""
        found = self.found(agreed)
        if not found:
            return self
        caption = " ".join([f"{self.title}." if self.title else "", self.caption]).strip()
        return self.model_copy(update={"title": found, "caption": caption})

    def fitted(self, data: ReportData) -> Self:
        """The figure with a panel for each value of what is swept besides, if panels are free.

        If they are not, it shows the first value and says so. So a sweep by `--set` draws, too.
        """
        rows = matching(data.runs, self.where)
        used = (*self.axes_columns(), *self.where)
        swept = [name for name in data.settings if name not in (*used, "variant")]
        swept = [name for name in swept if len(values_of(rows, name)) > 1]
        if "columns" not in type(self).model_fields or len(swept) != 1:
            return self
        (name,) = swept
        if not any(getattr(self, key, None) for key in ("columns", "edges", "cells")):
            return self.model_copy(update={"columns": name})
        first = values_of(rows, name)[0]
        caption = f"{self.caption} Only {name} = {first} is shown.".strip()
        where = {**self.where, name: first}
        return self.model_copy(update={"where": where, "caption": caption})

    def needs(self) -> list[Need]:
        """Tables that must be traced."""
        return []

    def metrics(self) -> list[str]:
        """Metrics (outputs) that the figure shows."""
        return []

    def on_one_axis(self) -> list[str]:
        """Metrics that share an axis, and so must have one unit."""
        return []

    def axes_columns(self) -> list[str]:
        """Parameters (or "variant") that determine the figure's layout."""
        return []

    def check_layout(self, data: ReportData) -> None:
        """Raise FigureError when the runs do not fit the layout, whatever their values."""
        self.rows_of(data)

    def answer(self, data: ReportData) -> str:  # noqa: ARG002
        """What it shows of a single run, for a report that expects nothing; "" if it says nothing.

        Raises FigureError when there is nothing to draw.
        """
        return ""

    def draw(self, data: ReportData) -> Drawn:
        """Draw the figure. Raises FigureError when there is nothing to draw."""
        raise NotImplementedError

    def rows_of(self, data: ReportData) -> pd.DataFrame:
        """The runs that the figure shows. Raises FigureError when there is none."""
        rows = matching(data.runs, self.where)
        if not len(rows):
            filters = filter_text(self.where)
            raise FigureError(f"no finished run {'with ' + filters if filters else 'at all'}")
        for column in self.axes_columns():
            if column not in rows.columns:
                known = ", ".join(data.settings)
                raise FigureError(f"the runs have no parameter '{column}'; they have: {known}")
        return rows

    def canvas(
        self, rows: int = 1, columns: int = 1, *, height: float | None = None, **options: Any
    ) -> tuple[Canvas, list[list[Axes]]]:
        """An empty figure of `rows` x `columns` panels."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        size = (COLUMN_INCHES[self.width], self.height or height or self._default_height)
        figure = _figure_class()(figsize=size, layout=_layout_class()())
        FigureCanvasAgg(figure)
        panels = figure.subplots(rows, columns, squeeze=False, **options)
        if self.title:
            title = _broken(self.title, _TITLE_POINTS, 72 * size[0] - 2 * _TITLE_POINTS)
            figure.suptitle(title, fontsize=_TITLE_POINTS)
        return figure, [list(row) for row in panels]


def _broken(text: str, size: float, width: float) -> str:
    """A text broken into lines of about equal length. size: of its letters; width: at most [pt]."""
    tries = [_lines_of(text, size, share * width) for share in (1, 0.9, 0.8, 0.7, 0.6, 0.5)]
    return "\n".join([lines for lines in tries if len(lines) == len(tries[0])][-1])


def _lines_of(text: str, size: float, width: float) -> list[str]:
    """As many words per line as fit, but at least one."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else ""
        if lines and text_size(longer, size)[0] <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _fit_label(axes: Axes, height: float) -> bool:
    """Break the label of a vertical axis into lines that end within the figure; whether it was.

    With several rows of panels, within its row. height: of the figure [pt].
    """
    label, place = axes.yaxis.label, axes.get_position()
    middle = (place.y0 + place.y1) / 2
    grid = axes.get_subplotspec()
    rows = grid.get_gridspec().nrows if grid is not None else 1
    room = height * min(2 * min(middle, 1 - middle), 1 / rows)
    text = label.get_text()
    if text and "\n" not in text:
        label.set_text(_broken(text, float(label.get_fontsize()), room))
    return bool(label.get_text() != text)


@cache
def _layout_class() -> type[LayoutEngine]:
    """Return a layout in which labels of vertical axes have as many lines as they need."""
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    class Fitting(ConstrainedLayoutEngine):
        def execute(self, fig: Any) -> Any:
            laid_out = super().execute(fig)
            broken = [_fit_label(axes, 72 * fig.get_figheight()) for axes in fig.axes]
            return super().execute(fig) if any(broken) else laid_out

    return Fitting


@cache
def _figure_class() -> type[Canvas]:
    """Return a Figure whose legends leave room for the panels, and have the columns that fit."""
    from matplotlib.figure import Figure

    class Fitting(Figure):
        def legend(self, *args: Any, ncols: int = 1, **options: Any) -> Legend:
            made = super().legend(*args, ncols=ncols, **options)
            renderer: Any = self.canvas
            share = made.get_window_extent(renderer.get_renderer()).width / self.bbox.width
            if options.get("loc") == "outside right center" and share > _MOST_BESIDE:
                options["loc"], ncols = "outside lower center", 3  # one more than will be tried
            elif share <= 1 or ncols == 1:
                return made
            made.remove()
            return self.legend(*args, ncols=ncols - 1, **options)

    return Fitting


class Mark(Entry):
    """A horizontal reference line; with `where` only in the panels of those runs."""

    value: QuantityText = Field(description="The level.")
    label: str = Field(default="", description="Its name.")
    where: Where = Field(default={}, description="The panels that have it; none: all.")


MODELS: Kinds[type[FigureModel]] = Kinds(
    {
        f"pyorch.report.figures.{module}": kinds
        for module, kinds in (
            ("custom", "custom"),
            ("flows", "cdf slowdown"),
            ("linkload", "link_load"),
            ("lost", "lost"),
            ("network", "pause_map deadlock_map"),
            ("parameters", "line bars heatmap"),
            ("pausetree", "pause_tree"),
            ("timeseries", "timeseries"),
            ("variants", "variants"),
        )
    }
)
"""Every kind of figure and the model of its entry."""

_F = TypeVar("_F", bound=FigureModel)


def is_own(model: FigureModel) -> bool:
    """Whether a figure is of a kind of this package."""
    return type(model).__module__.startswith("pyorch.")


def figure(model: type[_F]) -> type[_F]:
    """Register a kind of figure: a FigureModel whose field `kind` is a Literal."""
    (kind,) = get_args(model.model_fields["kind"].annotation)
    MODELS[kind] = model
    return model


def draw_marks(
    panels: Sequence[Axes], groups: Sequence[pd.DataFrame], marks: Sequence[Mark], shown: Scale
) -> None:
    """Draw reference lines into the panels of a row, and their labels to the right of it.

    groups: the runs of each panel. A panel has the lines whose filter holds for one of its runs.
    Lines that the panel to the right has as well are labelled only there. The limits of the
    value axis must be final, apart from the lines themselves.
    """
    chosen = [[mark for mark in marks if len(matching(rows, mark.where))] for rows in groups]
    for axes, lines in zip(panels, chosen, strict=True):
        for mark in lines:
            level = parse_quantity(mark.value).value / shown.factor
            axes.axhline(level, color="0.35", linewidth=0.7, linestyle=(0, (2, 2)), zorder=1.5)
    for index, (axes, lines) in enumerate(zip(panels, chosen, strict=True)):
        if index + 1 == len(panels) or lines != chosen[index + 1]:
            _label_marks(axes, lines, shown)


def _label_marks(axes: Axes, marks: Sequence[Mark], shown: Scale) -> None:
    """Write the labels in the margin, where they hide no data, and apart from each other."""
    from matplotlib.transforms import blended_transform_factory

    canvas = axes.get_figure(root=True)
    low, high = axes.get_ylim()
    if canvas is None or axes.get_yscale() != "linear":
        points_a_unit = 0.0
    else:
        height = axes.get_position().height * canvas.get_figheight() * 72
        points_a_unit = height / (high - low)
    ordered = sorted(marks, key=lambda mark: parse_quantity(mark.value).value)
    levels = [parse_quantity(mark.value).value / shown.factor for mark in ordered]
    place = blended_transform_factory(axes.transAxes, axes.transData)
    for mark, level, shift in zip(ordered, levels, _apart(levels, points_a_unit), strict=True):
        axes.annotate(
            f"{mark.label} {show_text(mark.value)}".strip(),
            (1, level),
            xycoords=place,
            xytext=(3, shift),
            textcoords="offset points",
            va="center",
            fontsize=6.5,
            color="0.2",
            annotation_clip=False,
        )


def _apart(levels: Sequence[float], points_a_unit: float, gap: float = 8.5) -> list[float]:
    """Shifts [points] that put labels at ascending levels at least a gap apart."""
    if not points_a_unit:
        return [0.0] * len(levels)
    places: list[float] = []
    for level in levels:
        at = level * points_a_unit
        places.append(max(at, places[-1] + gap) if places else at)
    middle = [p - level * points_a_unit for p, level in zip(places, levels, strict=True)]
    centre = max(middle, default=0.0) / 2  # half of the shift goes down, so that both stay close
    return [shift - centre for shift in middle]


def show_value(name: str | None, value: Any) -> str:
    """A value of the variant, a scenario or a parameter as a title: "GFC", "load = 0.3"."""
    if name is None or name in ("variant", "scenario"):
        return "" if name is None else str(value)
    return f"{name.split('.')[-1].replace('_', ' ')} = {value_text(value)}"


def numeric(values: Sequence[Any]) -> tuple[list[float], str] | None:
    """Parameter values as numbers in one base unit; None when they are of several kinds."""
    try:
        found = [parse_quantity(v if isinstance(v, str) else float(v)) for v in values]
    except (TypeError, ValueError):
        return None
    bases = {quantity.unit for quantity in found}
    return ([q.value for q in found], bases.pop()) if len(bases) == 1 else None


def panels_of(rows: pd.DataFrame, column: str | None) -> list[tuple[Any, pd.DataFrame]]:
    """(value, its runs) of every value of a column, in the plan's order; all without one."""
    if column is None:
        return [(None, rows)]
    return [(value, having(rows, column, value)) for value in values_of(rows, column)]


def hue_title(hue: str | None) -> str | None:
    """The title of a legend for a swept parameter; names of variants need none."""
    return (
        None
        if hue is None or hue == "variant"
        else hue.rpartition(".")[2].replace("_", " ").capitalize()
    )


def legend_below(canvas: Canvas, *, title: str | None = None) -> None:
    """One legend for all panels, outside them; none for a single line."""
    found: dict[str, Any] = {}
    for axes in canvas.axes:  # some panels may lack a line
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    if len(found) > 1:
        labels, handles = list(found), list(found.values())
        columns = min(len(labels), 5)
        canvas.legend(handles, labels, loc="outside lower center", ncols=columns, title=title)


def seeds_note(rows: pd.DataFrame) -> str:
    """How many seeds the runs have, those of each variant: "n = 5 seeds", "n = 5 to 10 seeds"."""
    parts = [part for _, part in rows.groupby("variant")] if "variant" in rows else [rows]
    return seeds_text(part["seed"].nunique() for part in parts)


def seeds_text(counts: Iterable[int]) -> str:
    """Numbers of seeds in words: "n = 1 seed", "n = 5 to 10 seeds"."""
    known = sorted({*counts}) or [0]
    told = str(known[0]) if len(known) == 1 else f"{known[0]} to {known[-1]}"
    return f"n = {told} seed{'s' if known != [1] else ''}"


ESTIMATED = ("mean", "low", "high", "n", "of")
"""Columns of an estimate in the data behind a figure; `of` is its `spread`."""


def interval_note(table: pd.DataFrame, seeds: str) -> str:
    """What the points and intervals of a table of estimates are, for the caption."""
    kinds = {str(kind) for kind, n in zip(table["of"], table["n"], strict=True) if n}
    drawn = [text for kind, text in _INTERVALS.items() if kind in kinds]
    if drawn:
        same = f"; {_EQUAL} without interval" if kinds & {"fixed", "equal"} else ""
        means = table[table["of"] == "mean"]
        cut = (means["low"] == 0) & (means["high"] > 2 * means["mean"])
        ends = " Intervals end at 0: no value can be negative." if cut.any() else ""
        return f"Mean and 95 % {' or '.join(drawn)} interval, {seeds}{same}.{ends}"
    if kinds == {"fixed"}:
        return "Deterministic: no run uses random numbers."
    if "equal" in kinds:
        return f"All seeds of a setting gave the same ({seeds})."
    return "One run per point."


_INTERVALS = {"mean": "Student-t", "share": "Clopper-Pearson"}
_EQUAL = "settings of which all runs are equal"


VALUE_POINTS = 6
"""Font size of the values at bars."""


def short_number(value: float) -> str:
    """Three digits, and large numbers in full: 0.139, 352, 1,290; very large ones as 1.2e+09."""
    in_full = 1000 <= abs(value) < 1e7
    return f"{float(f'{value:.3g}'):,.0f}" if in_full else f"{value:.3g}"


def number_cells(axes: Axes, grid: pd.DataFrame, numbers: bool = True, **colours: Any) -> None:
    """Draw a table as colours, with its numbers unless told otherwise.

    colours: how values become colours, as for seaborn's heatmap: `vmin` and `vmax`, or `norm`.
    """
    seaborn().heatmap(
        grid,
        ax=axes,
        cmap="cividis",
        annot=grid.map(short_number) if numbers else False,
        fmt="",
        annot_kws={"fontsize": 6.5},
        linewidths=0.5,
        cbar=False,
        xticklabels=[value_text(x) for x in grid.columns],
        **colours,
    )
    axes.grid(visible=False)
    axes.tick_params(axis="both", length=0, rotation=0)
    axes.set_xlabel("")
    axes.set_ylabel("")


def cell_colours(canvas: Canvas, panels: Sequence[Axes], label: str) -> None:
    """Draw one scale of colours beside panels of `number_cells` that have the same colours."""
    bar = canvas.colorbar(panels[0].collections[0], ax=panels, pad=0.02, fraction=0.05)
    bar.set_label(label)
    if bar.ax.get_yscale() == "log":
        plain_log_ticks(bar.ax.yaxis)
    bar.outline.set_visible(False)


AS_GIVEN: dict[str, Any] = {"estimator": "median", "errorbar": ("pi", 100)}
"""Make seaborn draw the rows of `ends` as their own interval instead of computing one."""
WHISKERS: dict[str, Any] = {"capsize": 0.12, "err_kws": {"linewidth": 0.8, "color": "0.15"}}


def ends(part: pd.DataFrame, shown: Scale) -> pd.DataFrame:
    """The finite means and the ends of their intervals, one row each, as `value` in the unit shown.

    A mean lies between the ends, so it is the median of the three, and the ends are their range.
    """
    known = part[np.isfinite(part["mean"])]
    wide = known[known["high"] > known["low"]]
    values = [(known, "mean"), (wide, "low"), (wide, "high")]
    rows = [some.assign(value=some[name] / shown.factor) for some, name in values]
    found: pd.DataFrame = pd.concat(rows)
    return found
