"""Rates at which a routing loop deadlocks, against n B / TTL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyorch.metrics import parse_quantity
from pyorch.report.figures import Drawn
from pyorch.report.style import COLOURS

if TYPE_CHECKING:
    from pyorch.report.data import ReportData
    from pyorch.report.figures.custom import CustomFigure

BANDWIDTH = 40e9
NOTE = (
    "A frame makes TTL - 1 hops between switches, so that it passes the fullest link "
    "ceil((TTL - 1) / n) times; n B / TTL is that without the rounding."
)
SWITCHES = {"two": 2, "three": 3, "four": 4}


def threshold(data: ReportData, figure: CustomFigure) -> Drawn:
    """One row per loop and TTL; the rate over n B / TTL, filled where it deadlocks."""
    runs = figure.rows_of(data).copy()
    runs["n"] = runs["scenario"].map(SWITCHES)
    runs["ttl"] = runs["queue_pair.ttl"].astype(int)
    runs["rate"] = [parse_quantity(text).value for text in runs["traffic.looping.rate_cap"]]
    runs["share"] = runs["rate"] * runs["ttl"] / (runs["n"] * BANDWIDTH)
    rows = sorted(set(zip(runs["n"], runs["ttl"], strict=True)))
    canvas, panels = figure.canvas(rows=1, columns=1)
    axes = panels[0][0]
    for outcome, colour, fill, label in (
        (0, COLOURS[0], "white", "no deadlock"),
        (1, COLOURS[1], COLOURS[1], "deadlock"),
    ):
        part = runs[runs["deadlock"] == outcome]
        at = [rows.index(pair) for pair in zip(part["n"], part["ttl"], strict=True)]
        axes.plot(
            part["share"], at, "o", markersize=5, color=colour, markerfacecolor=fill, label=label
        )
    for place, (n, ttl) in enumerate(rows):
        passes = -(-(ttl - 1) // n)
        own = ttl / (n * passes)
        axes.plot([own, own], [place - 0.38, place + 0.38], color="0.2", linewidth=1.2)
    axes.plot([], [], color="0.2", linewidth=1.2, label="B over passes of the fullest link")
    axes.axvline(1, color="0.5", linestyle="--", linewidth=0.9, label="n B / TTL")
    axes.set_xscale("log")
    axes.set_xlim(0.18, 4)
    axes.set_xticks([0.2, 0.5, 1, 2, 4], ["0.2", "0.5", "1", "2", "4"])
    axes.minorticks_off()
    axes.set_yticks(range(len(rows)), [f"n = {n}, TTL {ttl}" for n, ttl in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlabel("Rate of the flow over n B / TTL")
    canvas.legend(loc="outside lower center", ncols=4)
    columns = ["n", "ttl", "rate", "share", "deadlock", "formed"]
    return Drawn(canvas, runs[columns], [NOTE])
