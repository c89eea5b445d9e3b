"""The figure of the recurrence study: normalised throughput of every flow over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from pyorch.report.figures import Drawn
from pyorch.report.style import COLOURS

if TYPE_CHECKING:
    from pyorch.report.data import ReportData
    from pyorch.report.figures.custom import Custom

CAP = 2e9
"""Rate of every flow (bit/s)."""
FLOWS = {"h3": "f0", "h1": "f2", "h2": "f3", "server": "f1, to the server"}
TITLES = {
    "Break": "Broken",
    "BreakAndTreat": "Broken, trigger treated",
    "BreakAndIgnore": "Broken, the server's pauses ignored",
    "Reroute": "Rerouted, without another path",
    "Watchdog": "Watchdog, with a hundredth of SONiC's times",
    "Controller": "Controller that polls every 2 ms",
}
TOP = 1.25
"""Where the axis ends: bursts of what had waited go beyond."""
NOTE = "Dotted: the first deadlock has formed. Triangles: bursts of what had waited, beyond 1.25."
LINES = ("-", "--", "-.", ":")


def throughput(data: ReportData, figure: Custom) -> Drawn:
    """Draw what every receiver gets, over what its sender sends."""
    runs = figure.rows_of(data)
    seed = runs["seed"].min()
    runs = runs[runs["seed"] == seed]
    variants = list(dict.fromkeys(runs["variant"]))
    canvas, panels = figure.canvas(rows=len(variants), sharex=True, sharey=True)
    rows = []
    for (axes,), variant in zip(panels, variants, strict=True):
        run = runs[runs["variant"] == variant].iloc[0]
        rate = data.table(run["hash"], "rate")
        names = list(data.run(run["hash"]).nodes)
        for number, (host, label) in enumerate(FLOWS.items()):
            mine = rate[rate["node"] == names.index(host)]
            mine = mine.groupby("time_ps", as_index=False)["rx_bytes"].sum()  # of both classes
            span = mine["time_ps"].diff().iloc[-1] / 1e12
            share = 8 * mine["rx_bytes"] / span / CAP
            axes.plot(
                mine["time_ps"] / 1e9,
                share,
                LINES[number],
                color=COLOURS[number],
                linewidth=0.9,
                label=label,
            )
            cut = mine["time_ps"][share > TOP] / 1e9
            style = {"color": COLOURS[number], "markersize": 3.5, "clip_on": False}
            (marks,) = axes.plot(cut, [TOP] * len(cut), "^", **style)
            marks.set_in_layout(False)
            rows += [
                (variant, label, time, value)
                for time, value in zip(mine["time_ps"], share, strict=True)
            ]
        axes.axvline(run["formed"] / 1e9, color="grey", linewidth=0.8, linestyle=":")
        axes.set_title(TITLES.get(variant, variant), loc="left")
        axes.set_ylim(-0.05, TOP)
    panels[-1][0].set_xlabel("Time (ms)")
    canvas.supylabel("Received / rate of its sender", fontsize=8)
    handles, labels = panels[0][0].get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    table = pd.DataFrame(rows, columns=["variant", "flow", "time_ps", "normalised"])
    return Drawn(
        canvas,
        table,
        [NOTE],
    )
