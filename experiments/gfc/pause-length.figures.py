"""The figure of the study of pause lengths."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pyorch.base.units import parse_bytes
from pyorch.report.figures import Drawn
from pyorch.report.style import line_style

if TYPE_CHECKING:
    from pyorch.report.data import ReportData
    from pyorch.report.figures.custom import Custom

#: Of the study: XOFF [B], tau [s], C [B/s].
XOFF, TAU, RATE = 80_000, 25e-6, 10e9 / 8


def pause_length(data: ReportData, figure: Custom) -> Drawn:
    """Draw pauses and the time between them over XOFF - XON, with the closed form."""
    runs = figure.rows_of(data).copy()
    runs["gap"] = [XOFF - parse_bytes(str(xon)) for xon in runs["buffer.xon"]]
    runs = runs.sort_values("gap")
    canvas, panels = figure.canvas()
    axes = panels[0][0]
    gaps = np.array([0, 42_000])
    closed = (2 * TAU + 2 * gaps / RATE) * 1e6
    axes.plot(gaps / 1e3, closed, linestyle="--", color="0.4", label="2 τ + 2 (XOFF − XON) / C")
    for number, (column, label) in enumerate((("pause", "pause"), ("between", "between pauses"))):
        style = line_style(number, marker=True) | {"linestyle": "none", "label": label}
        style["fillstyle"] = "none" if number else "full"
        axes.plot(runs["gap"] / 1e3, runs[column] / 1e6, **style)
    axes.set_xlabel("XOFF − XON (KB)")
    axes.set_ylabel("Time (µs)")
    axes.set_ylim(bottom=0)
    axes.legend(loc="lower right")
    return Drawn(canvas, runs[["gap", "pause", "between"]], [])
