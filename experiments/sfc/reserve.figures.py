"""The figure of the study of reserves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyorch.base.units import parse_rate
from pyorch.report.figures import Drawn
from pyorch.report.style import COLOURS, DASHES, MARKERS

if TYPE_CHECKING:
    from pyorch.report.data import ReportData
    from pyorch.report.figures.custom import Custom

RATE, RESERVE = "topology.rate", "sfc-congestion-point.reserve"
PLACES = ("local ToR", "spine", "far ToR")
#: Buffer [KB] and line [Gb/s] of each curve; the lines are 75 % of 25 and 100 Gb/s.
CURVES = ((125, 18.75), (500, 18.75), (125, 75.0), (500, 75.0))


def reserve(data: ReportData, figure: Custom) -> Drawn:
    """Draw the share of the line over the reserve, one panel a place."""
    runs = figure.rows_of(data).copy()
    parts = runs["variant"].str.split(", ", expand=True)
    runs["place"] = parts[0]
    runs["buffer_kb"] = [int(text.removesuffix(" KB")) for text in parts[1]]
    runs["gbps"] = [parse_rate(str(text)) / 1e9 for text in runs[RATE]]
    runs["reserve"] = [float(value) for value in runs[RESERVE]]
    runs["used"] = runs[["local", "spine", "far"]].max(axis=1) / 1e9 / runs["gbps"]
    canvas, panels = figure.canvas(columns=len(PLACES), sharey=True)
    for axes, place in zip(panels[0], PLACES, strict=True):
        for number, (size, gbps) in enumerate(CURVES):
            of = (runs["place"] == place) & (runs["buffer_kb"] == size) & (runs["gbps"] == gbps)
            part = runs[of].sort_values("reserve")
            axes.plot(
                100 * part["reserve"],
                100 * part["used"],
                marker=MARKERS[number],
                color=COLOURS[number],
                linestyle=DASHES[number],
                label=f"{gbps / 0.75:g} Gb/s, {size / (gbps / 0.75):g} KB per Gb/s",
            )
        axes.set_title(place)
        axes.set_xlabel("Reserve (% of the buffer)")
    panels[0][0].set_ylabel("Line in use (%)")
    canvas.legend(*panels[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    columns = ["place", "buffer_kb", "gbps", "reserve", "used"]
    return Drawn(canvas, runs[columns], [])
