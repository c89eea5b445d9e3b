"""The figures of the fat-tree study: what became of the scenarios, and how long flows took."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from pyorch.report.figures import Drawn
from pyorch.report.statistics import NEVER_NEGATIVE, clopper_pearson, estimate
from pyorch.report.style import COLOURS, HATCHES

if TYPE_CHECKING:
    from pyorch.report.data import ReportData
    from pyorch.report.figures.custom import Custom

SERVICES = {"Fifo": "FIFO egress", "RoundRobin": "Round robin over ingress ports"}
LABELS = {
    "GFC-stages": "GFC,\nstages",
    "GFC-time": "GFC,\ntime",
    "GFC-time to the end": "GFC,\ntime,\nto the end",
}
VERDICTS = ("deadlock", "not finished", "finished")


def verdict(run: pd.Series) -> str:
    """Return what became of a scenario: a deadlock, flows that have not arrived, or neither."""
    if run["deadlock"] == 1:
        return "deadlock"
    return "finished" if run["finished"] == 1 else "not finished"


def verdicts(data: ReportData, figure: Custom) -> Drawn:
    """Draw the shares of scenarios that deadlock, that do not finish, and that finish."""
    runs = figure.rows_of(data).copy()
    runs["verdict"] = runs.apply(verdict, axis=1)
    canvas, panels = figure.canvas(columns=len(SERVICES), sharey=True)
    rows = []
    for axes, (service, title) in zip(panels[0], SERVICES.items(), strict=True):
        part = runs[runs["port.queue_service"] == service]
        variants = list(dict.fromkeys(part["variant"]))
        for place, variant in enumerate(variants):
            mine = part.loc[part["variant"] == variant, "verdict"]
            bottom = 0.0
            for number, kind in enumerate(VERDICTS):
                count = int((mine == kind).sum())
                share = 100 * count / len(mine)
                low, high = clopper_pearson(count, len(mine))
                rows.append((service, variant, kind, count, len(mine), low, high))
                style = {"color": COLOURS[number], "hatch": HATCHES[number], "edgecolor": "white"}
                label = kind if place == 0 else None
                axes.bar(place, share, bottom=bottom, width=0.75, label=label, **style)
                if count:
                    text = {"ha": "center", "va": "center", "fontsize": 7}
                    box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none"}
                    axes.text(place, bottom + share / 2, str(count), bbox=box, **text)
                bottom += share
        axes.set_xticks(range(len(variants)), [LABELS.get(v, v) for v in variants])
        axes.set_title(title)
        axes.set_ylim(0, 100)
    panels[0][0].set_ylabel("Scenarios (%)")
    handles, labels = panels[0][0].get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside lower center", ncols=len(VERDICTS))
    columns = ["service", "variant", "verdict", "scenarios", "of", "low", "high"]
    table = pd.DataFrame(rows, columns=columns)
    note = "Numbers are scenarios; one seed is one scenario, the same under every scheme."
    return Drawn(canvas, table, [note])


def slowdowns(data: ReportData, figure: Custom) -> Drawn:
    """Draw the mean slowdown in the scenarios in which every flow arrived under every scheme."""
    runs = figure.rows_of(data).copy()
    runs["verdict"] = runs.apply(verdict, axis=1)
    canvas, panels = figure.canvas(columns=len(SERVICES), sharey=True)
    rows, counts = [], []
    for axes, (service, title) in zip(panels[0], SERVICES.items(), strict=True):
        part = runs[runs["port.queue_service"] == service]
        good = part.groupby("seed")["verdict"].agg(lambda found: set(found) == {"finished"})
        shown = part[part["seed"].map(good)]
        counts.append(f"{int(good.sum())} of {len(good)} ({title.lower()})")
        variants = list(dict.fromkeys(part["variant"]))
        for place, variant in enumerate(variants):
            mean = estimate(shown.loc[shown["variant"] == variant, "slowdown"], NEVER_NEGATIVE)
            rows.append((service, variant, mean.mean, mean.low, mean.high, mean.n))
            if mean.n:
                ends = [[mean.mean - mean.low], [mean.high - mean.mean]]
                error = ends if mean.n > 1 else None
                axes.bar(place, mean.mean, yerr=error, width=0.75, capsize=2, color=COLOURS[0])
        axes.set_xticks(range(len(variants)), [LABELS.get(v, v) for v in variants])
        axes.set_title(title)
    panels[0][0].set_ylabel("Mean FCT slowdown")
    columns = ["service", "variant", "slowdown", "low", "high", "scenarios"]
    table = pd.DataFrame(rows, columns=columns)
    note = f"Scenarios in which all flows arrive under every scheme: {', '.join(counts)}."
    return Drawn(canvas, table, [note, "Bars: 95 % interval."])
