"""The figures of the campaign: where detector and oracle disagree, and how long detection takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pyorch.report.figures import Drawn
from pyorch.report.statistics import clopper_pearson
from pyorch.report.style import COLOURS, HATCHES

if TYPE_CHECKING:
    from pyorch.report.data import ReportData
    from pyorch.report.figures.custom import Custom

LABELS = {"MapEvidence": "map as evidence", "Literal": "as written"}
LINES = ("-", "--", ":")
COLUMNS = ["kind", "variant", "scenarios", "of", "low", "high", "bad_seeds", "seeds", "seeds_high"]
NOTES = (
    "Bars: 95 % interval of Clopper and Pearson over scenarios.",
    "The settings of a seed share its failed links: the second bound is over independent seeds.",
)


def random_of(runs: pd.DataFrame) -> pd.DataFrame:
    """The random fat-trees among the runs."""
    return runs[runs["scenario"].str.startswith("random")]


def disagreements(data: ReportData, figure: Custom) -> Drawn:
    """Draw the shares of scenarios with false alarms and with missed deadlocks, with bounds."""
    runs = random_of(figure.rows_of(data))
    canvas, panels = figure.canvas(columns=2, sharey=False)
    kinds = (("false_alarms", "False alarms"), ("missed", "Missed deadlocks"))
    variants = list(dict.fromkeys(runs["variant"]))
    rows = []
    for number, (axes, (column, title)) in enumerate(zip(panels[0], kinds, strict=True)):
        for place, variant in enumerate(variants):
            mine = runs[runs["variant"] == variant]
            # a deadlock can only be missed where there is one
            of = mine if column == "false_alarms" else mine[mine["deadlock"] == 1]
            hits = int((of[column] > 0).sum())
            low, high = clopper_pearson(hits, len(of))
            # the settings of one seed share their failed links: seeds are what is independent
            worst = of.groupby("seed")[column].max()
            bad = int((worst > 0).sum())
            _, seeds_high = clopper_pearson(bad, len(worst))
            rows.append((column, variant, hits, len(of), low, high, bad, len(worst), seeds_high))
            share = hits / len(of)
            axes.bar(
                place,
                100 * share,
                yerr=[[100 * (share - low)], [100 * (high - share)]],
                width=0.6,
                capsize=3,
                color=COLOURS[number],
                hatch=HATCHES[number],
                edgecolor="white",
            )
            text = (
                f"{hits} of {len(of)}\n≤ {100 * high:.2g} %\n"
                f"{bad} of {len(worst)} seeds\n≤ {100 * seeds_high:.2g} %"
            )
            axes.annotate(
                text,
                (place, 100 * high),
                xytext=(0, 3),
                textcoords="offset points",
                ha="center",
                va="bottom",
                fontsize=7,
            )
        axes.set_xticks(range(len(variants)), [LABELS.get(v, v) for v in variants])
        axes.set_title(title)
        axes.margins(y=0.7)
        axes.set_ylim(bottom=0)
    panels[0][0].set_ylabel("Scenarios (%)")
    panels[0][1].set_ylabel("Scenarios with a deadlock (%)")
    table = pd.DataFrame(rows, columns=COLUMNS)
    return Drawn(canvas, table, NOTES)


def delays(data: ReportData, figure: Custom) -> Drawn:
    """Draw the distribution of the detection times of each variant."""
    runs = random_of(figure.rows_of(data))
    canvas, panels = figure.canvas()
    axes = panels[0][0]
    rows = []
    for number, variant in enumerate(dict.fromkeys(runs["variant"])):
        mine = runs[(runs["variant"] == variant) & (runs["deadlock"] == 1)]
        times = np.sort(mine["delay"].dropna().to_numpy(dtype=float)) / 1e6
        if not len(times):
            continue
        share = 100 * np.arange(1, len(times) + 1) / len(mine)
        axes.plot(
            times, share, LINES[number], color=COLOURS[number], label=LABELS.get(variant, variant)
        )
        rows += [(variant, time, part) for time, part in zip(times, share, strict=True)]
    axes.set_xscale("log")
    axes.set_xlabel("Time from formation to detection (µs)")
    axes.set_ylabel("Scenarios with a deadlock (%)")
    axes.set_ylim(0, 102)
    axes.legend(loc="lower right")
    table = pd.DataFrame(rows, columns=["variant", "delay_us", "share_percent"])
    return Drawn(canvas, table, ["What is missing at the top was not detected within the run."])


def none(data: ReportData, figure: Custom) -> Drawn:
    """Draw the shares of runs with suspected loops and with false alarms, by listed scenario."""
    runs = figure.rows_of(data)
    runs = runs[~runs["scenario"].str.startswith("random")]
    scenarios = list(dict.fromkeys(runs["scenario"]))
    variants = list(dict.fromkeys(runs["variant"]))
    canvas, panels = figure.canvas(columns=2)
    kinds = (
        ("suspected", "Runs with a suspected loop"),
        ("false_alarms", "Runs with a false alarm"),
    )
    rows = []
    width = 0.8 / len(variants)
    for axes, (column, title) in zip(panels[0], kinds, strict=True):
        for number, variant in enumerate(variants):
            for place, scenario in enumerate(scenarios):
                of = runs[(runs["variant"] == variant) & (runs["scenario"] == scenario)]
                hits = int((of[column] > 0).sum())
                rows.append((column, scenario, variant, hits, len(of), of["deadlock"].sum()))
                left = place + (number - (len(variants) - 1) / 2) * width
                axes.bar(
                    left,
                    100 * hits / len(of),
                    width=0.9 * width,
                    color=COLOURS[number],
                    hatch=HATCHES[number],
                    edgecolor="white",
                    label=LABELS.get(variant, variant) if place == 0 else None,
                )
                axes.text(
                    left,
                    100 * hits / len(of) + 1.5,
                    str(hits),
                    ha="center",
                    va="bottom",
                    fontsize=6,
                    rotation=90 if hits > 99 else 0,  # bars stand side by side
                )
        axes.set_xticks(range(len(scenarios)), scenarios)
        axes.set_title(title)
        axes.set_ylim(0, 108)
    panels[0][0].set_ylabel("Runs (%)")
    handles, labels = panels[0][0].get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    columns = ["kind", "scenario", "variant", "runs", "of", "deadlocked"]
    return Drawn(canvas, pd.DataFrame(rows, columns=columns), ["Numbers: runs."])
