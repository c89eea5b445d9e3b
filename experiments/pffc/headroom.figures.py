"""The headroom study's own figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyorch.base import units
from pyorch.report.figures import Drawn
from pyorch.report.style import COLOURS, MARKERS, plain_log_axis

if TYPE_CHECKING:
    from pyorch.report.data import ReportData
    from pyorch.report.figures.custom import Custom

#: Settings of which the worst start phase is taken.
SETTING = ["variant", "topology.rate", "topology.delay", "queue_pair.payload_size"]
LABELS = {"immediate": "MIGRATE obeyed at once", "late": "MIGRATE obeyed after 3 µs"}


def headroom(data: ReportData, figure: Custom) -> Drawn:
    """Draw the overshoot over the closed form, one point a setting."""
    runs = figure.rows_of(data)
    worst = runs.groupby(SETTING, as_index=False)[["overshoot", "share"]].max()
    worst["closed_form"] = worst["overshoot"] / worst["share"]
    worst["gbps"] = [_gbps(rate) for rate in worst["topology.rate"]]
    canvas, panels = figure.canvas(rows=1, columns=1)
    axes = panels[0][0]
    top = float(worst["closed_form"].max()) / 1e3 * 1.3
    bottom = float(worst["overshoot"].min()) / 1e3 * 0.8
    axes.plot([bottom, top], [bottom, top], linestyle="--", color="0.3", label="closed form h")
    for number, (variant, label) in enumerate(LABELS.items()):
        part = worst[worst["variant"] == variant]
        axes.plot(
            part["closed_form"] / 1e3,
            part["overshoot"] / 1e3,
            linestyle="none",
            marker=MARKERS[number],
            color=COLOURS[number],
            fillstyle="none" if number else "full",
            label=label,
        )
    plain_log_axis(axes, "x")
    plain_log_axis(axes, "y")
    axes.set_xlabel("Closed form h (KB)")
    axes.set_ylabel("Largest overshoot (KB)")
    canvas.legend(loc="outside lower center", ncols=3)
    low, high = float(worst["share"].min()), float(worst["share"].max())
    note = f"{len(worst)} settings; between {low:.2f} and {high:.2f} of h was needed."
    return Drawn(canvas, worst, [note])


def _gbps(rate: object) -> float:
    return units.parse_rate(rate) / 1e9 if isinstance(rate, str) else float(str(rate)) / 1e9
