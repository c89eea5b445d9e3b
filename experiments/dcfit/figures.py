"""The figures of the detection studies: how long after its formation a deadlock is found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyorch.report.figures import Drawn
from pyorch.report.style import COLOURS

if TYPE_CHECKING:
    from pyorch.report.data import ReportData
    from pyorch.report.figures.custom import Custom

MARKS = ("o", "s", "^", "D")
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
        left.plot(mine["seed"], mine["delay"] / 1e6, label=LABELS.get(variant, variant), **style)
        right.plot(mine["seed"], mine["delay"] / mine["lap"], **style)
        found = int(mine["delay"].notna().sum())
        early = int((mine["false_alarms"] > 0).sum())
        notes.append(
            f"{LABELS.get(variant, variant)}: {found} of {len(mine)} found, {early} with false alarms."
        )
    left.set_ylabel("Detection time (us)")
    right.set_ylabel("Rounds of messages")
    for axes in (left, right):
        axes.set_xlabel("Repeat")
        axes.set_yscale("log")
    canvas.legend(loc="outside lower center", ncols=len(variants))
    table = runs[["variant", "seed", "delay", "lap", "false_alarms"]]
    return Drawn(canvas, table, notes)
