"""What figures with one run per panel share, and the time axis of most of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field
from typing_extensions import override

from pyorch.base.lazy import pd
from pyorch.metrics import RunTables
from pyorch.metrics.fields import Time
from pyorch.report.figures.base import FigureError, FigureModel, panels_of, show_value
from pyorch.report.quantities import Scale, automatic, scale
from pyorch.report.select import having
from pyorch.report.style import label_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pyorch.report.data import ReportData

    Panels = Sequence[tuple[Any, pd.DataFrame]]


class OneRunAPanel(FigureModel):
    """A figure with one panel per value of `columns`, each with one run.

    `seed` picks the seed that is shown (default: the first); `labels` says what panels are called
    instead of their value.
    """

    columns: str | None = Field(
        default=None, description="A panel for each value of 'variant' or a swept parameter."
    )
    seed: int | None = Field(default=None, description="The seed that is shown; none: the first.")
    labels: dict[str, str] = Field(default={}, description="What panels are called, by value.")

    @override
    def axes_columns(self) -> list[str]:
        return [self.columns] if self.columns else []

    @override
    def check_layout(self, data: ReportData) -> None:
        self.panels(data)

    def panels(self, data: ReportData) -> Panels:
        """(value of `columns`, its run). Raises FigureError when there is none, or several."""
        rows = self.rows_of(data)
        seed = next(iter(rows["seed"])) if self.seed is None else self.seed
        rows = having(rows, "seed", seed)
        if not len(rows):
            raise FigureError(f"no finished run has seed {seed}")
        panels = panels_of(rows, self.columns)
        for value, part in panels:
            if len(part) > 1:
                raise FigureError(
                    f"{show_value(self.columns, value) or 'the figure'} holds {len(part)} "
                    "settings; choose one with 'where' or lay them out with 'columns'"
                )
        return panels

    def title_of(self, value: Any) -> str:
        """The title of a panel."""
        return self.labels.get(str(value)) or show_value(self.columns, value)


class OverTime(OneRunAPanel):
    """The same, over time, in the window `from`..`until`."""

    start: Time = Field(default=0, alias="from", description="Begin of the time axis.")
    until: Time | None = Field(default=None, description="End of the time axis; none: of the run.")
    time_unit: Literal["ns", "us", "ms", "s"] | None = Field(
        default=None, description="Unit of the time axis; none: as fits."
    )

    def clock(self, runs: Sequence[RunTables], last: float = 0) -> tuple[float, Scale]:
        """End of the time axis [ps], and its scale. last: end of what is shown [ps]."""
        stop = float(self.until or max(last, *(run.end_ps for run in runs)))
        return stop, scale(self.time_unit) if self.time_unit else automatic("ps", [stop])

    def label_time(self, axes: Axes, clock: Scale, stop: float) -> None:
        """Write the name and the limits of the time axis."""
        axes.set_xlabel(label_axis("Time", clock.label))
        axes.set_xlim(self.start / clock.factor, stop / clock.factor)


def seed_note(panels: Panels) -> str:
    """Which seed is shown."""
    return f"Seed {panels[0][1]['seed'].iloc[0]}."
