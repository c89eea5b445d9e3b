"""The figures of the detection studies: how long after its formation a deadlock is found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyorch.report.figures import Drawn
from pyorch.report.style import COLOURS

if TYPE_CHECKING:
    from pyorch.report.data import ReportData
    from pyorch.report.figures.custom import Custom

APART = 0.12
"""Of the points of two variants, in repeats."""
MARKS = ("o", "s", "^", "D", "v", "P")
LABELS = {
    "OnLoop": "trigger on the loop",
    "NoRetry": "nothing tried again",
    "OnLoopNoRetry": "on the loop, nothing tried again",
    "Literal": "as written",
}


def delays(data: ReportData, figure: Custom) -> Drawn:
    """Draw the detection time of every repeat, and how many rounds of messages that is."""
    runs = figure.rows_of(data)
    canvas, panels = figure.canvas(columns=2)
    left, right = panels[0]
    variants = [v for v in dict.fromkeys(runs["variant"]) if v != "Healthy"]
    notes = []
    for number, variant in enumerate(variants):
        mine = runs[runs["variant"] == variant]
        style = {"color": COLOURS[number], "marker": MARKS[number], "linestyle": "none"}
        at = mine["seed"] + APART * (number - (len(variants) - 1) / 2)  # so that none hides another
        left.plot(at, mine["delay"] / 1e6, label=LABELS.get(variant, variant), **style)
        right.plot(at, mine["delay"] / mine["lap"], **style)
        found = int(mine["delay"].notna().sum())
        early = int((mine["false_alarms"] > 0).sum())
        name = LABELS.get(variant, variant)
        notes.append(f"{name}: {found} of {len(mine)} found, {early} with false alarms.")
    left.set_ylabel("Detection time (µs)")
    right.set_ylabel("Rounds of messages")
    wide = runs["delay"].max() > 10 * runs["delay"].min()
    for axes in (left, right):
        axes.set_xlabel("Repeat")
        if wide:
            axes.set_yscale("log")
        else:
            axes.set_ylim(bottom=0)
    canvas.legend(loc="outside lower center", ncols=min(len(variants), 3))
    table = runs[["variant", "seed", "delay", "lap", "false_alarms"]]
    return Drawn(canvas, table, notes)
