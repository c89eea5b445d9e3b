"""link_load: what each link carried, in each direction, as a map or, if many, one cell per link."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, model_validator
from typing_extensions import override

from pyorch.base.lazy import Later, pd
from pyorch.metrics import Need, RunTables
from pyorch.metrics.fields import OfClass, Time
from pyorch.report.figures.base import Drawn, FigureError, figure
from pyorch.report.figures.overtime import OneRunAPanel, seed_note
from pyorch.report.layout import layout
from pyorch.report.quantities import automatic
from pyorch.report.style import COLUMN_INCHES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

    from pyorch.report.data import ReportData
    from pyorch.report.figures import loadmap
    from pyorch.report.figures.loadmap import Shades
else:
    loadmap = Later("pyorch.report.figures.loadmap")

MOST_LINKS = 200
"""More links than this, at the width of two columns, are cells instead of lines of a map."""
_CELL = 4.2
"""Height of a row of cells [pt]."""
_BAR = 0.75
"""Width of the colour bar with its labels [in]."""
_WHOLE = COLUMN_INCHES["two"] - _BAR
_LABELS = {"load": "Load", "paused": "Time paused"}


@figure
class LinkLoad(OneRunAPanel):
    """The network with the share of its rate that each link carried, in each direction.

    `table = "flow_link"` (default): data frames, also of one `traffic` entry or of one `collective`
    of it, from the first frame to the last; `"rate"`: frames of all classes in the window
    `from`..`until`. `shows = "paused"`: the share of that time in which a class was held back. A
    map, or, above 200 links, one cell per link. The `numbers` heaviest of a map are labelled.
    """

    kind: Literal["link_load"] = "link_load"
    table: Literal["flow_link", "rate"] = Field(
        default="flow_link",
        description="What is counted: data frames from the first to the last, or all frames "
        "from `from` to `until`, by a trace of `rate` with a `period`.",
    )
    shows: Literal["load", "paused"] = Field(
        default="load",
        description="Share of the rate that was used, or share of the time in which a class "
        "was held back (by `pause_tree`).",
    )
    traffic: str | None = Field(
        default=None, description="Only frames of the [[traffic]] entry of this label."
    )
    collective: str | None = Field(
        default=None, description="Only frames of this collective of the entry."
    )
    class_number: OfClass = None
    start: Time | None = Field(
        default=None, alias="from", description="Begin of the window of 'rate'."
    )
    until: Time | None = Field(default=None, description="End of it; none: of the run.")
    numbers: int = Field(
        default=6, ge=0, le=40, description="How many of the heaviest links are labelled."
    )

    @model_validator(mode="after")
    def _check(self) -> LinkLoad:
        if self.table == "flow_link" and (self.start, self.until) != (None, None):
            raise ValueError(
                "'from' and 'until' need table = 'rate': 'flow_link' counts whole flows"
            )
        if self.table == "rate" and self.traffic is not None:
            raise ValueError(
                "'traffic' needs table = 'flow_link': 'rate' does not distinguish flows"
            )
        if self.collective is not None and self.traffic is None:
            raise ValueError("'collective' needs 'traffic', the label of its entry")
        if self.until is not None and (self.start or 0) >= self.until:
            raise ValueError("'from' must be before 'until'")
        return self

    @override
    def needs(self) -> list[Need]:
        number = self.class_number
        found = [Need(self.table, None, number, sampled=self.table == "rate")]
        return [*found, Need("pause_tree", None, number)] if self.shows == "paused" else found

    @override
    def draw(self, data: ReportData) -> Drawn:

        shown = self.panels(data)
        panels = [
            self._panel(data.run(part["hash"].iloc[0]), self.title_of(value))
            for value, part in shown
        ]
        shades = loadmap.shades_of([share for panel in panels for share in panel.shares.values()])
        largest = max(len(panel.network.a) for panel in panels)
        most = MOST_LINKS * self._inches(panels) / _WHOLE
        draw = self._maps if largest <= most else self._cells
        canvas = draw(panels, shades)
        notes = [self._note(panels), seed_note(shown)]
        table = pd.concat([panel.table() for panel in panels], ignore_index=True)
        return Drawn(canvas, table, notes)

    def _panel(self, run: RunTables, title: str) -> loadmap.Panel:
        from pyorch.metrics.loads import LoadError, loads_of_flows, loads_of_ports

        try:
            if self.table == "rate":
                loads = loads_of_ports(run, self.start or 0, self.until, self.class_number)
            else:
                loads = loads_of_flows(run, self.traffic, self.collective, self.class_number)
        except LoadError as error:
            raise FigureError(str(error)) from error
        values = loads.load if self.shows == "load" else loads.paused
        if values is None:
            raise FigureError("the runs have no table 'pause_tree'; add a [[trace]] and run again")
        egresses = zip(loads.node.tolist(), loads.peer.tolist(), strict=True)
        return loadmap.Panel(
            title, run.network, loads, dict(zip(egresses, values.tolist(), strict=True))
        )

    def _note(self, panels: Sequence[loadmap.Panel]) -> str:
        of = f" of {self.traffic}" if self.traffic else ""
        of += f", {self.collective}," if self.collective else ""
        frames = f"data frames{of}" if self.table == "flow_link" else "frames of all classes"
        number = "" if self.class_number is None else f" of class {self.class_number}"
        if self.shows == "load":
            what = f"Share of a link's rate taken by {frames}{number}"
        else:
            what = f"Share of the time in which a class{number} was held back"
        times = [(panel.loads.begin, panel.loads.end) for panel in panels]
        if self.table == "flow_link":
            spans = automatic("ps", [end - begin for begin, end in times])
            lengths = ", ".join(f"{(end - begin) / spans.factor:.4g}" for begin, end in times)
            what += f", from the first frame{of} to the end of the last ({lengths} {spans.label})"
        else:
            clock = automatic("ps", [end for _, end in times])
            begin, end = (one / clock.factor for one in times[0])
            what += f", from {begin:.4g} to {end:.4g} {clock.label}"
        most = [panel.most(list(panel.shares)) for panel in panels]
        said = [
            f"{panel.title}: {text}" if panel.title else f"All egresses: {text}"
            for panel, text in zip(panels, most, strict=True)
        ]
        return f"{what}. {'; '.join(said)}."

    def _grid(self, panels: Sequence[loadmap.Panel]) -> tuple[int, int]:
        """Rows and columns of panels."""
        columns = 1 if self.width == "one" else min(2, len(panels))
        return math.ceil(len(panels) / columns), columns

    def _inches(self, panels: Sequence[loadmap.Panel]) -> float:
        """The width of a panel, which leaves room for the colour bar [in]."""
        return (COLUMN_INCHES[self.width] - _BAR) / self._grid(panels)[1]

    def _maps(self, panels: Sequence[loadmap.Panel], shades: Shades) -> Canvas:
        rows, columns = self._grid(panels)
        inches = self._inches(panels)
        maps = [
            loadmap.LoadMap(panel.network, layout(panel.network), panel.shares, panel.title)
            for panel in panels
        ]
        sizes = [one.size(0.95 * inches) for one in maps]
        each = max(height for height, _ in sizes)
        above = 0.25 if self.title else 0.0
        canvas, grid = self.canvas(rows, columns, height=0.5 + above + rows * (each + 0.25))
        axes = [one for row in grid for one in row]
        for place, one, (_, points) in zip(axes, maps, sizes, strict=False):
            one.draw_network(place, one.lines(shades, points), points, one.numbers(self.numbers))
            place.set_title(one.title)
        for unused in axes[len(maps) :]:
            unused.remove()
        self._colour_bar(canvas, axes[: len(maps)], shades)
        self._legend(canvas, labelled=any(one.numbers(self.numbers) for one in maps))
        return canvas

    def _cells(self, panels: Sequence[loadmap.Panel], shades: Shades) -> Canvas:
        rows, columns = self._grid(panels)
        inches = self._inches(panels)
        parts = [loadmap.cells_of(panel.network) for panel in panels]
        strips = max(map(len, parts))
        tall = [
            max(len(part[strip].rows) if strip < len(part) else 1 for part in parts)
            for strip in range(strips)
        ]
        points = [max(_CELL * count, 12.0) for count in tall]
        height = 0.6 + rows * sum(points) / 72 + rows * strips * 0.24
        canvas, grid = self.canvas(
            rows * strips,
            columns,
            height=min(height, 11.0),
            gridspec_kw={"height_ratios": points * rows},
        )
        used = []
        for number, (panel, part) in enumerate(zip(panels, parts, strict=True)):
            row, column = divmod(number, columns)
            for strip, one in enumerate(part):
                place = grid[row * strips + strip][column]
                loadmap.draw_cells(place, one, panel, shades, 72 * inches)
                title = loadmap.title_of(
                    one.what, panel.most(loadmap.there(one)), 0.92 * 72 * inches
                )
                first = f"{panel.title}\n" if panel.title and not strip else ""
                place.set_title(first + title, fontsize=loadmap.TITLE)
                used.append(place)
        for place in (one for line in grid for one in line):
            if place not in used:
                place.remove()
        self._colour_bar(canvas, used, shades)
        self._legend(canvas, labelled=False)
        return canvas

    def _colour_bar(self, canvas: Canvas, axes: Sequence[Axes], shades: Shades) -> None:
        from matplotlib.cm import ScalarMappable

        colours, norm = shades.looks()
        ticks = [shades.top * step / loadmap.STEPS for step in range(0, loadmap.STEPS + 1, 2)]
        bar = canvas.colorbar(
            ScalarMappable(norm, colours), ax=list(axes), fraction=0.03, pad=0.02, aspect=30,
            ticks=[max(tick, norm.boundaries[0]) for tick in ticks],
        )  # fmt: skip
        bar.ax.set_yticklabels([f"{100 * tick:g}" for tick in ticks])
        bar.ax.minorticks_off()
        bar.ax.tick_params(length=0)
        bar.set_label(f"{_LABELS[self.shows]} (%)")
        bar.outline.set_visible(False)

    def _legend(self, canvas: Canvas, *, labelled: bool) -> None:
        from matplotlib.lines import Line2D

        nothing = "no frames" if self.shows == "load" else "never"
        entries = [Line2D([], [], color=loadmap.NOTHING, linewidth=3, label=nothing)]
        if labelled:
            text = "the heaviest, in %; frames keep to the right"
            look: dict[str, Any] = {"marker": "$42$", "markersize": 7, "linestyle": ""}
            look |= {"markeredgewidth": 0}
            entries.append(Line2D([], [], color="black", label=text, **look))
        columns = 1 if self.width == "one" else 2
        canvas.legend(handles=entries, loc="outside lower center", ncols=columns)
