"""The threshold study's own figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pyorch.report.figures import Drawn
from pyorch.report.style import COLOURS, MARKERS, plain_log_axis
from pyorch.sizing.theory import dynamic_threshold

if TYPE_CHECKING:
    from pyorch.report.data import ReportData
    from pyorch.report.figures.custom import Custom

#: Bs of the study: 2 MB less 17 headrooms of 20 KB [B].
SHARED = 2_000_000 - 17 * 20_000


def threshold(data: ReportData, figure: Custom) -> Drawn:
    """Draw the mean queue over n, with the closed form as lines."""
    runs = figure.rows_of(data).copy()
    runs["n"] = [int(str(variant)[1:]) for variant in runs["variant"]]
    runs["formula"] = [
        dynamic_threshold(float(alpha), SHARED, n)
        for alpha, n in zip(runs["buffer.alpha"], runs["n"], strict=True)
    ]
    canvas, panels = figure.canvas()
    axes = panels[0][0]
    ns = np.geomspace(1, 16, 50)
    for number, (alpha, part) in enumerate(runs.groupby("buffer.alpha")):
        style = {"color": COLOURS[number], "marker": MARKERS[number], "linestyle": "none"}
        axes.plot(part["n"], part["queue"] / 1e3, label=f"α = {alpha:g}", **style)
        line = float(alpha) * SHARED / (1 + ns * float(alpha)) / 1e3
        axes.plot(ns, line, color=COLOURS[number], linewidth=1)
    plain_log_axis(axes, "x", {n: str(n) for n in (1, 2, 4, 8, 16)})
    plain_log_axis(axes, "y")
    axes.set_xlabel("Congested queues n")
    axes.set_ylabel("Mean queue (KB)")
    canvas.legend(loc="outside lower center", ncols=2)
    columns = ["n", "buffer.alpha", "queue", "formula"]
    return Drawn(canvas, runs[columns], ["Markers: measured. Lines: αBs / (1 + nα)."])
