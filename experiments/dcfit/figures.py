"""The figures of the detection studies: how long after its formation a deadlock is found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyorch.report.figures import Drawn
from pyorch.report.style import COLOURS, line_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from pyorch.report.data import ReportData
    from pyorch.report.figures.custom import Custom

APART = 0.12
"""Of the points of two variants, in repeats."""
MARKS = ("o", "s", "^", "D", "v", "P")
LOST = 0.94
"""Height of the points of repeats that were not found, as a share of the panel's."""
LABELS = {
    "OnLoop": "trigger on the loop",
    "NoRetry": "nothing tried again",
    "OnLoopNoRetry": "on the loop, nothing tried again",
    "Literal": "as written",
}


def delays(data: ReportData, figure: Custom) -> Drawn:
    """Draw the detection time of every repeat, those not found among them, and its distribution."""
    runs = figure.rows_of(data)
    canvas, panels = figure.canvas(columns=2)
    left, right = panels[0]
    variants = [v for v in dict.fromkeys(runs["variant"]) if v != "Healthy"]
    wide = bool(runs["delay"].max() > 10 * runs["delay"].min())
    end = float(runs["delay"].max()) / 1e6 * (2 if wide else 1.1)
    notes = []
    for number, variant in enumerate(variants):
        mine = runs[runs["variant"] == variant]
        shift = APART * (number - (len(variants) - 1) / 2)  # so that none hides another
        _points(left, mine, number, shift)
        _steps(right, mine, number, end)
        notes.append(_note(mine, LABELS.get(variant, variant)))
    left.set(ylabel="Detection time (µs)", xlabel="Repeat")
    right.set(xlabel="Time from formation to detection (µs)", ylabel="Repeats found (%)")
    right.set_ylim(0, 104)
    if wide:
        left.set_yscale("log")
        right.set_xscale("log")
    low, high = left.get_ylim()
    left.set_ylim(low if wide else 0, high * (3 if wide else 1.2))  # room for those not found
    if runs.loc[runs["variant"] != "Healthy", "delay"].isna().any():
        left.axhspan(LOST - 0.05, 1, transform=left.get_xaxis_transform(), color="0.93", zorder=0)
        left.text(0.01, LOST, "not found", transform=left.transAxes, va="center", fontsize=6.5)
        left.set_xlim(right=float(runs["seed"].max()) + 0.5)
        left.set_xlim(left=float(runs["seed"].min()) - 2.2)
    canvas.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    table = runs[["variant", "seed", "delay", "lap", "false_alarms"]]
    return Drawn(canvas, table, notes)


def _points(axes: Axes, mine: DataFrame, number: int, shift: float) -> None:
    """Draw a point a repeat; an open one above, where the deadlock was not found."""
    style = {"color": COLOURS[number], "marker": MARKS[number], "linestyle": "none"}
    variant = mine["variant"].iloc[0]
    times, at = mine["delay"] / 1e6, mine["seed"] + shift
    axes.plot(at, times, label=LABELS.get(variant, variant), **style)
    lost = at[times.isna()]
    place = axes.get_xaxis_transform()
    axes.plot(lost, [LOST] * len(lost), transform=place, fillstyle="none", **style)


def _steps(axes: Axes, mine: DataFrame, number: int, end: float) -> None:
    """Draw a step a repeat, of all repeats: a curve that ends below the top has missed some."""
    times = (mine["delay"] / 1e6).dropna().sort_values().tolist()
    shares = [100 * (index + 1) / len(mine) for index in range(len(times))]
    style = line_style(number) | {"drawstyle": "steps-post"}
    if times:
        axes.plot([times[0], *times, end], [0, *shares, shares[-1]], **style)


def _note(mine: DataFrame, name: str) -> str:
    """Say how many were found, and after how many rounds of messages."""
    rounds = (mine["delay"] / mine["lap"]).dropna()
    early = int((mine["false_alarms"] > 0).sum())
    laps = f" after {rounds.min():.2g} to {rounds.max():.3g} rounds" if len(rounds) else ""
    return f"{name}: {len(rounds)} of {len(mine)} found{laps}, {early} with false alarms."
