"""The figure of the study of ratios."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyorch.report.figures import Drawn
from pyorch.report.style import line_style

if TYPE_CHECKING:
    from pyorch.report.data import ReportData
    from pyorch.report.figures.custom import Custom

#: Of the study: B1 [B], wire bytes of a message, C [bit/s], duration [s].
B1, MESSAGE, RATE, DURATION = 262_504, 84, 10e9, 4e-3


def ratio(data: ReportData, figure: Custom) -> Drawn:
    """Draw peak and messages over the number of senders, a line a ratio."""
    runs = figure.rows_of(data).copy()
    runs["senders"] = runs["topology.hosts"].astype(int) - 1
    runs["ratio"] = runs["multi-stage-gfc.ratio"].astype(float)
    sent = runs["messages"] / runs["senders"] * MESSAGE * 8 / DURATION
    runs["feedback"] = sent / RATE
    canvas, panels = figure.canvas(columns=2)
    shown = {
        "peak": ("Longest queue above B1 (KB)", lambda v: (v - B1) / 1e3),
        "feedback": ("Messages on a link (%)", lambda v: 100 * v),
    }
    for axes, (column, (label, scale)) in zip(panels[0], shown.items(), strict=True):
        for number, value in enumerate(sorted(runs["ratio"].unique())):
            part = runs[runs["ratio"] == value].sort_values("senders")
            style = line_style(number, marker=True) | {"label": f"{value:g}"}
            axes.plot(part["senders"], scale(part[column]), **style)
        axes.set_ylabel(label)
        axes.set_xlabel("Senders")
        axes.set_xticks(sorted(runs["senders"].unique()))
        axes.set_ylim(bottom=0)
    handles, labels = panels[0][0].get_legend_handles_labels()
    canvas.legend(handles, labels, title="R_k / R_(k−1)", loc="outside right center")
    columns = ["senders", "ratio", "peak", "messages", "feedback", "received"]
    return Drawn(canvas, runs[columns], ["Messages count with preamble and gap; no MinGap."])
