"""The figure of the study of deadlocks over XOFF - XON."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from pyorch.base.units import parse_bytes, parse_time
from pyorch.report.figures import Drawn
from pyorch.report.statistics import clopper_pearson
from pyorch.report.style import COLOURS, line_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pyorch.report.data import ReportData
    from pyorch.report.figures.custom import Custom

#: Of the study [B].
XOFF = 80_000


def deadlocks(data: ReportData, figure: Custom) -> Drawn:
    """Draw the share of runs that deadlock within each duration, and the longest ones over time."""
    runs = figure.rows_of(data).copy()
    runs["gap"] = [XOFF - parse_bytes(str(xon)) for xon in runs["buffer.xon"]]
    runs["ms"] = [parse_time(str(duration)) / 1e9 for duration in runs["run.duration"]]
    shares = pd.DataFrame(
        [
            {"ms": ms, "gap": gap, "runs": len(part), "deadlocked": part["deadlock"].sum()}
            for (ms, gap), part in runs.groupby(["ms", "gap"])
        ]
    )
    canvas, panels = figure.canvas(columns=2)
    left, right = panels[0]
    for number, (ms, part) in enumerate(shares.groupby("ms")):
        _draw_shares(left, part, number, f"within {ms:g} ms")
    left.set_xlim(0, XOFF / 1e3)
    left.set_ylim(0, 105)
    left.set_xlabel("XOFF − XON (KB)")
    left.set_ylabel("Runs that deadlock (%)")
    left.legend(loc="lower right")
    longest = runs[runs["ms"] == runs["ms"].max()]
    for number, (gap, part) in enumerate(longest.groupby("gap")):
        ends = sorted(part.loc[part["deadlock"] == 1, "formed"] / 1e9)
        alive = [1 - index / len(part) for index in range(len(ends) + 1)]
        style = line_style(number) | {"label": f"{gap / 1e3:g} KB"}
        times = [0, *ends, runs["ms"].max()]
        right.step(times, [100 * a for a in (*alive, alive[-1])], where="post", **style)
    right.set_ylim(0, 105)
    right.set_xlabel("Time (ms)")
    right.set_ylabel("Runs without a deadlock (%)")
    right.legend(title="XOFF − XON", loc="upper right")
    wider, narrower = only_one(runs[runs["ms"] == runs["ms"].min()])
    note = (
        f"{int(shares['runs'].min())} seeds each, bars: 95 % interval (Clopper-Pearson). A seed "
        f"has the same traffic everywhere: within {runs['ms'].min():g} ms {wider} deadlock with "
        f"the widest gap and not with the narrowest, {narrower} the other way round."
    )
    return Drawn(canvas, shares, [note])


def _draw_shares(axes: Axes, shares: pd.DataFrame, number: int, label: str) -> None:
    for row in shares.itertuples():
        low, high = clopper_pearson(int(row.deadlocked), int(row.runs))
        axes.plot([row.gap / 1e3] * 2, [100 * low, 100 * high], color=COLOURS[number])
    share = 100 * shares["deadlocked"] / shares["runs"]
    style = {"linestyle": "none", "marker": "os"[number], "color": COLOURS[number]}
    axes.plot(shares["gap"] / 1e3, share, label=label, **style)


def only_one(runs: pd.DataFrame) -> tuple[int, int]:
    """Return how many seeds deadlock only with the widest gap, and how many only with the least."""
    by_seed = runs.pivot_table(index="seed", columns="gap", values="deadlock").dropna()
    widest, narrowest = by_seed[by_seed.columns.max()], by_seed[by_seed.columns.min()]
    return int((widest > narrowest).sum()), int((widest < narrowest).sum())
