"""The overhead study's own figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyorch.report.figures import Drawn
from pyorch.report.statistics import NEVER_NEGATIVE, estimate
from pyorch.report.style import COLOURS, MARKERS

if TYPE_CHECKING:
    from pyorch.report.data import ReportData
    from pyorch.report.figures.custom import Custom

#: Bytes on the wire of a control frame and of a full data frame.
CONTROL, DATA = 64 + 20, 1048 + 20
LABELS = {"PFC": "PFC", "PFFC": "PFFC, Xoff − Xon = 2 KB", "PFFC, wide": "PFFC, Xoff − Xon = 70 KB"}


def overhead(data: ReportData, figure: Custom) -> Drawn:
    """Draw the share over the load, one line a variant; full data frames are assumed."""
    runs = figure.rows_of(data).copy()
    runs["load"] = runs["traffic.load.load"].astype(float)
    runs["share"] = runs["frames"] * CONTROL / DATA
    canvas, panels = figure.canvas()
    axes = panels[0][0]
    for number, (variant, label) in enumerate(LABELS.items()):
        part = runs[runs["variant"] == variant]
        points = {
            load: estimate(100 * rows["share"], NEVER_NEGATIVE)
            for load, rows in part.groupby("load")
        }
        means = [point.mean for point in points.values()]
        error = [
            [point.mean - point.low for point in points.values()],
            [point.high - point.mean for point in points.values()],
        ]
        style = {"color": COLOURS[number], "marker": MARKERS[number], "capsize": 2}
        axes.errorbar(list(points), means, yerr=error, label=label, **style)
    axes.set_xlabel("Load")
    axes.set_ylabel("Control over data (%)")
    axes.set_ylim(bottom=0)
    canvas.legend(loc="outside lower center", ncols=1)
    mean = runs.pivot_table(index="load", columns="variant", values="share", aggfunc="mean")
    narrow, wide = (mean[variant] / mean["PFC"] for variant in ("PFFC", "PFFC, wide"))
    ratios = (
        f"Ratio of the means, PFFC over PFC: {narrow.min():.1f} to {narrow.max():.1f}; with 70 KB "
        f"between Xoff and Xon {wide.min():.2f} to {wide.max():.2f}."
    )
    notes = ["Means over seeds with 95 % intervals.", ratios]
    return Drawn(canvas, runs[["variant", "load", "frames", "share"]], notes)
