"""The theorem study's own figure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pyorch.report.figures import Drawn
from pyorch.report.style import COLOURS
from pyorch.units import parse_bytes

if TYPE_CHECKING:
    from pyorch.report.data import ReportData
    from pyorch.report.figures.custom import Custom

#: Of the study: Bm [B], and C tau [B] at 10 Gb/s and 25 us.
BM, C_TAU = 200_000, 31_250


def theorem(data: ReportData, figure: Custom) -> Drawn:
    """Draw the peak of the queue over Bm - B0, with both bounds."""
    runs = figure.rows_of(data).copy()
    runs["range"] = [(BM - parse_bytes(str(b0))) / C_TAU for b0 in runs["conceptual-gfc.b0"]]
    runs = runs.sort_values("range")
    canvas, panels = figure.canvas()
    axes = panels[0][0]
    axes.plot(runs["range"], runs["peak"] / BM, marker="o", color=COLOURS[0])
    axes.axhline(1, linestyle="--", color="0.3", linewidth=1)
    top = axes.get_ylim()[1]
    for place, name in ((math.e, "e C τ"), (4, "4 C τ")):
        axes.axvline(place, linestyle=":", color=COLOURS[1], linewidth=1.2)
        axes.text(place + 0.06, top, name, va="top", fontsize=7, color=COLOURS[1])
    axes.set_xlabel("(Bm − B0) / C τ")
    axes.set_ylabel("Longest queue / Bm")
    return Drawn(canvas, runs[["range", "peak"]], ["Theorem 4.1 asks for 4 C τ."])
