"""The figure of the study of the buffer above a threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pyorch.base.units import parse_rate, parse_time
from pyorch.report.figures import Drawn
from pyorch.report.style import COLOURS, MARKERS

if TYPE_CHECKING:
    from pyorch.report.data import ReportData
    from pyorch.report.figures.custom import Custom

#: Of the study: XOFF and B1 [B], C [bit/s].
THRESHOLD, RATE = 200_000, 10e9
TITLES = {"100Mbps": "1 % is drained", "5Gbps": "half is drained"}
NAMES = {"PFC": "PFC, above XOFF", "GFC-stages": "multi-stage GFC, above B1"}


def buffer(data: ReportData, figure: Custom) -> Drawn:
    """Draw the longest queue above the threshold over C tau, with lines of 1 and 2 C tau."""
    runs = figure.rows_of(data).copy()
    parts = runs["variant"].str.split(", ", expand=True)
    runs["scheme"] = parts[0]
    runs["c_tau"] = [RATE / 8 * parse_time(text) / 1e12 for text in parts[1]]
    runs["above"] = runs["peak"] - THRESHOLD
    canvas, panels = figure.canvas(columns=2, sharey=True)
    for axes, (drain, title) in zip(panels[0], TITLES.items(), strict=True):
        rows = runs[[parse_rate(str(rate)) == parse_rate(drain) for rate in runs["fault.0.rate"]]]
        ends = np.array([0, 66_000])
        for factor, dash in ((1, ":"), (2, "--")):
            label = f"{factor if factor > 1 else ''} C τ".strip()
            axes.plot(ends / 1e3, factor * ends / 1e3, linestyle=dash, color="0.4", label=label)
        for number, (scheme, label) in enumerate(NAMES.items()):
            part = rows[rows["scheme"] == scheme].sort_values("c_tau")
            axes.plot(
                part["c_tau"] / 1e3,
                part["above"] / 1e3,
                linestyle="none",
                marker=MARKERS[number],
                color=COLOURS[number],
                fillstyle="none" if number else "full",
                markersize=5,
                label=label,
            )
        axes.set_title(title)
        axes.set_xlabel("C τ (KB)")
    panels[0][0].set_ylabel("Longest queue above threshold (KB)")
    panels[0][1].legend(loc="upper left")
    return Drawn(canvas, runs[["scheme", "fault.0.rate", "c_tau", "peak", "above"]], [])
