"""The figure of the study of filters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyorch.report.figures import Drawn
from pyorch.report.style import COLOURS, HATCHES

if TYPE_CHECKING:
    from pyorch.report.data import ReportData
    from pyorch.report.figures.custom import Custom

THRESHOLD = "sfc-congestion-point.threshold"
#: Metric, axis, factor, and whether the axis is logarithmic.
PANELS = (
    ("messages", "Messages", 1.0, True),
    ("peak", "Peak of the queue (KB)", 1e-3, False),
    ("lost", "Frames lost", 1.0, True),
    ("fct", "Mean FCT (ms)", 1e-9, False),
)


def filters(data: ReportData, figure: Custom) -> Drawn:
    """Draw groups of bars, one a filter, one bar a threshold."""
    runs = figure.rows_of(data)
    names = list(dict.fromkeys(runs["variant"]))
    sizes = list(dict.fromkeys(runs[THRESHOLD]))
    canvas, panels = figure.canvas(columns=len(PANELS), sharey=True)
    height = 0.8 / len(sizes)
    for axes, (metric, label, factor, log) in zip(panels[0], PANELS, strict=True):
        for number, size in enumerate(sizes):
            part = runs[runs[THRESHOLD] == size].groupby("variant").mean(numeric_only=True)
            axes.barh(
                [place + (number - (len(sizes) - 1) / 2) * height for place in range(len(names))],
                [float(part.loc[name, metric]) * factor for name in names],
                height=height,
                color=COLOURS[number],
                hatch=HATCHES[number],
                edgecolor="white",
                label=f"threshold {str(size).replace('KB', ' KB')}",
            )
        axes.set_xlabel(label)
        axes.grid(visible=False, axis="y")
        if log:
            axes.set_xscale("symlog", linthresh=1)
            axes.set_xticks([0, 10, 1000, 100_000])
    panels[0][0].set_yticks(range(len(names)), labels=names)
    panels[0][0].invert_yaxis()
    canvas.legend(*panels[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    columns = ["variant", THRESHOLD, *(panel[0] for panel in PANELS)]
    return Drawn(canvas, runs[columns], [])
