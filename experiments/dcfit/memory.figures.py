"""The figure of the memory study: bytes of a switch over its ports, against what is published."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyorch.report.figures import Drawn
from pyorch.report.style import COLOURS

if TYPE_CHECKING:
    from pyorch.report.data import ReportData
    from pyorch.report.figures.custom import Custom

PUBLISHED = {4: 100, 64: 1000}
"""Bytes by ports; 10^-1 KB and 1 KB in section 5 of the paper."""
MARKS = ("v", "s", "o")


def memory(data: ReportData, figure: Custom) -> Drawn:
    """Draw the detector's state by bits of a switch's number, and the state with counters."""
    runs = figure.rows_of(data).copy()
    runs["ports"] = runs["topology.hosts"]
    runs["bytes"] = (runs["state_bits"] + runs["counter_bits"]) / 8
    canvas, panels = figure.canvas()
    axes = panels[0][0]
    row = runs[runs["variant"] == "Row"]
    for number, bits in enumerate(sorted(row["dcfit.switch_bits"].unique())):
        mine = row[row["dcfit.switch_bits"] == bits].sort_values("ports")
        label = f"{2**bits - 1:,} switches ({bits} bits)"
        axes.plot(
            mine["ports"], mine["bytes"], color=COLOURS[number], marker=MARKS[number], label=label
        )
    most = runs["dcfit.switch_bits"].max()
    exact = runs[(runs["variant"] == "Counters") & (runs["dcfit.switch_bits"] == most)]
    exact = exact.sort_values("ports")
    axes.plot(
        exact["ports"],
        exact["bytes"],
        "--",
        color=COLOURS[3],
        marker="D",
        label=f"{2**most - 1:,} switches, with counters",
    )
    axes.plot(
        list(PUBLISHED),
        list(PUBLISHED.values()),
        linestyle="none",
        marker="*",
        markersize=10,
        color="black",
        label="published, at most",
    )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks([4, 8, 16, 32, 64], ["4", "8", "16", "32", "64"])
    axes.set_xlabel("Ports of the switch")
    axes.set_ylabel("Memory of a class (B)")
    canvas.legend(loc="outside right center")
    table = runs[["variant", "ports", "dcfit.switch_bits", "state_bits", "counter_bits", "bytes"]]
    return Drawn(canvas, table, ["One lossless class."])
