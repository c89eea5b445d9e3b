"""The figures of the study of pause intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pyorch.base.units import parse_bytes
from pyorch.report.figures import Drawn
from pyorch.report.style import COLOURS, DASHES, MARKERS
from pyorch.sizing import theory

if TYPE_CHECKING:
    from pyorch.report.data import ReportData
    from pyorch.report.figures.custom import Custom

THRESHOLD = "sfc-congestion-point.threshold"
#: Of the study: the line [bit/s], wire bytes a frame byte, and TTS + TFS [s]: 7.13 us for the
#: message (chip 3, two wires, ToR 1, NIC 1 + 1, two transmissions), 6.30 us for the data.
RATE, WIRE, LOOP = 18.75e9, 1520 / 1500, 13.42e-6
#: Variants, and the reserve that each has [B]; None: no closed form is drawn.
RESERVES = {
    "ignored": 0.0,
    "time-stamp": None,
    "reserve 10 %": 12.5e3,
    "reserve 20 %": 25e3,
    "reserve 30 %": 37.5e3,
    "first only": None,
}
#: Variants whose queue is shown.
SHOWN = ("ignored", "time-stamp", "reserve 30 %", "first only")


def share(data: ReportData, figure: Custom) -> Drawn:
    """Draw the share of the line in use over the threshold, with the closed form."""
    runs = figure.rows_of(data).copy()
    runs["kb"] = [parse_bytes(str(text)) / 1e3 for text in runs[THRESHOLD]]
    canvas, panels = figure.canvas(rows=1, columns=1)
    axes = panels[0][0]
    for number, (variant, reserve) in enumerate(RESERVES.items()):
        part = runs[runs["variant"] == variant].sort_values("kb")
        axes.plot(
            part["kb"],
            100 * part["share"],
            linestyle="none" if reserve is not None else "-",
            linewidth=0.7,
            marker=MARKERS[number],
            color=COLOURS[number],
            label=variant,
        )
        if reserve is not None and reserve * WIRE * 8 / RATE < LOOP:
            sizes = np.geomspace(25, 700, 100)
            form = [
                100 * theory.sfc_utilisation(kb * 1e3 * WIRE, 2, RATE, LOOP, reserve * WIRE)
                for kb in sizes
            ]
            axes.plot(sizes, form, linestyle=DASHES[1], color=COLOURS[number], linewidth=0.8)
    axes.plot([], [], linestyle=DASHES[1], color="0.3", linewidth=0.8, label="closed form")
    axes.set_xscale("log")
    ticks = [30, 60, 91, 150, 300, 600]
    axes.set_xticks(ticks, labels=[str(tick) for tick in ticks])
    axes.minorticks_off()
    axes.set_xlabel("Threshold (KB)")
    axes.set_ylabel("Line in use (%)")
    canvas.legend(loc="outside right center")
    columns = ["variant", "kb", "share"]
    return Drawn(canvas, runs[columns], ["A reserve is a share of 125 KB, whatever the threshold."])


def queue(data: ReportData, figure: Custom) -> Drawn:
    """Draw the queue over time, one panel a variant."""
    runs = figure.rows_of(data)
    runs = runs[[str(text) == "91KB" for text in runs[THRESHOLD]]]
    runs = runs.groupby("variant").first()  # seeds differ in nothing
    canvas, panels = figure.canvas(rows=2, columns=2, sharex=True, sharey=True)
    parts = []
    for number, variant in enumerate(SHOWN):
        axes = panels[number // 2][number % 2]
        table = data.table(runs.loc[variant, "hash"], "egress")
        table = table[(table["time_ps"] >= 1.0e9) & (table["time_ps"] <= 1.4e9)]
        times, sizes = table["time_ps"] / 1e9, table["bytes"] / 1e3
        axes.plot(times, sizes, drawstyle="steps-post", linewidth=0.8, color=COLOURS[0])
        axes.axhline(91, linestyle="--", color="0.3", linewidth=0.8, label="threshold")
        axes.set_title(variant)
        parts.append(table.assign(variant=variant)[["variant", "time_ps", "bytes"]])
    canvas.legend(*panels[0][0].get_legend_handles_labels(), loc="outside lower center")
    for row in panels:
        row[0].set_ylabel("Queue (KB)")
        row[0].set_ylim(0, 140)
    for axes in panels[1]:
        axes.set_xlabel("Time (ms)")
    return Drawn(canvas, pd.concat(parts), [])
