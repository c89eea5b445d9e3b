"""The overhead study's own figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyorch.report.figures import Drawn
from pyorch.report.style import COLOURS, MARKERS

if TYPE_CHECKING:
    from pyorch.report.data import ReportData
    from pyorch.report.figures.custom import Custom

#: Bytes on the wire of a control frame and of a full data frame.
CONTROL, DATA = 64 + 20, 1048 + 20
LABELS = {"PFC": "PFC", "PFFC": "PFFC, Xoff − Xon = 2 KB", "PFFC_wide": "PFFC, Xoff − Xon = 70 KB"}


def overhead(data: ReportData, figure: Custom) -> Drawn:
    """Draw the share over the load, one line a variant; full data frames are assumed."""
    runs = figure.rows_of(data).copy()
    runs["load"] = runs["traffic.load.load"].astype(float)
    runs["share"] = runs["frames"] * CONTROL / DATA
    canvas, panels = figure.canvas()
    axes = panels[0][0]
    for number, (variant, label) in enumerate(LABELS.items()):
        part = runs[runs["variant"] == variant].sort_values("load")
        style = {"color": COLOURS[number], "marker": MARKERS[number]}
        axes.plot(part["load"], 100 * part["share"], label=label, **style)
    axes.set_xlabel("Load")
    axes.set_ylabel("Control over data (%)")
    axes.set_ylim(bottom=0)
    canvas.legend(loc="outside lower center", ncols=1)
    times = runs.pivot_table(index="load", columns="variant", values="share")
    notes = [
        (
            f"PFFC over PFC: {(times['PFFC'] / times['PFC']).min():.1f} to "
            f"{(times['PFFC'] / times['PFC']).max():.1f} times; with 70 KB between Xoff and Xon "
            f"{(times['PFFC_wide'] / times['PFC']).min():.2f} to "
            f"{(times['PFFC_wide'] / times['PFC']).max():.2f} times."
        )
    ]
    return Drawn(canvas, runs[["variant", "load", "frames", "share"]], notes)
