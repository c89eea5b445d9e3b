"""The theorem study's own figure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pyorch.base.units import parse_bytes
from pyorch.report.figures import Drawn
from pyorch.report.style import line_style

if TYPE_CHECKING:
    from pyorch.report.data import ReportData
    from pyorch.report.figures.custom import Custom

#: Of the study: Bm [B], C [bit/s], and tau [s] of each variant.
BM, RATE = 400_000, 10e9
TAU = {"tau = 12.5 us": 12.5e-6, "tau = 25 us": 25e-6, "tau = 50 us": 50e-6}
#: Shown: from so many C tau to so many.
FROM, TO = 1, 8


def theorem(data: ReportData, figure: Custom) -> Drawn:
    """Draw the excess of the peak over Bm and the lowest rate, over (Bm - B0) / C tau."""
    runs = figure.rows_of(data).copy()
    runs["reach"] = [RATE / 8 * TAU[str(variant)] for variant in runs["variant"]]
    margin = [BM - parse_bytes(str(b0)) for b0 in runs["conceptual-gfc.b0"]]
    runs["range"] = margin / runs["reach"]
    runs["excess"] = (runs["peak"] - BM) / runs["reach"]
    runs = runs.sort_values(["variant", "range"])
    shown = runs[(runs["range"] >= FROM) & (runs["range"] <= TO)]
    canvas, panels = figure.canvas(columns=2)
    left, right = panels[0]
    for number, variant in enumerate(TAU):
        part = shown[shown["variant"] == variant]
        style = line_style(number, marker=True) | {
            "label": variant.replace("us", "µs").replace("tau", "τ")
        }
        left.plot(part["range"], part["excess"], **style)
        right.plot(part["range"], part["lowest_rate"] / 1e6, **style)
    left.axhline(0, linestyle="--", color="0.3", linewidth=0.8)
    left.set_ylabel("(Longest queue − Bm) / C τ")
    right.set_ylabel("Lowest rate (Mb/s)")
    for axes in (left, right):
        axes.set_xlabel("(Bm − B0) / C τ")
        low, high = axes.get_ylim()
        top = high + 0.08 * (high - low)  # room for the names of the bounds
        axes.set_ylim(low, top)
        for place, name in ((math.e, "e C τ"), (4, "4 C τ")):
            axes.axvline(place, linestyle=":", color="0.4", linewidth=1)
            axes.text(place + 0.08, top, name, va="top", fontsize=7, color="0.3")
    canvas.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    note = (
        "Theorem 4.1 asks for 4 C τ; the delay equation needs e C τ. "
        "The receiver takes 1 %, 100 Mb/s. "
        f"Of {len(runs)} runs the {len(shown)} with {FROM} to {TO} C τ are shown."
    )
    return Drawn(canvas, runs[["variant", "range", "peak", "excess", "lowest_rate"]], [note])
