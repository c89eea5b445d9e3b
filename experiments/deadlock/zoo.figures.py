"""The outcome of every scenario under every scheme: deadlock, starvation, or what flows get."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyorch.report.figures import Drawn

if TYPE_CHECKING:
    from pyorch.report.data import ReportData
    from pyorch.report.figures.custom import CustomFigure

STARVED = 0.01
"""Share of a scenario's largest mean goodput below which its slowest flow is starved."""

BROKEN, DEADLOCK, STARVES, FLOWS = "#f2b134", "#c0392b", "#e8c9a0", "#cfe3d4"


def outcomes(data: ReportData, figure: CustomFigure) -> Drawn:
    """Draw a table of scenarios and schemes: the outcome, and when or how much."""
    runs = figure.rows_of(data)
    schemes = list(dict.fromkeys(runs["variant"]))
    scenarios = list(dict.fromkeys(runs["scenario"]))
    canvas, panels = figure.canvas(rows=1, columns=1)
    axes = panels[0][0]
    best = runs.groupby("scenario")["mean_goodput"].max()
    told = []
    for _, run in runs.iterrows():
        x, y = schemes.index(run["variant"]), scenarios.index(run["scenario"])
        name, colour, text = _outcome(run, float(best[run["scenario"]]))
        axes.add_patch(_cell(x, y, colour))
        ink = "white" if colour == DEADLOCK else "0.1"
        axes.text(x, y, text, ha="center", va="center", fontsize=6.5, linespacing=1.1, color=ink)
        told.append(name)
    axes.set_xlim(-0.5, len(schemes) - 0.5)
    axes.set_ylim(len(scenarios) - 0.5, -0.5)
    axes.set_xticks(range(len(schemes)), schemes)
    axes.set_yticks(range(len(scenarios)), scenarios)
    axes.tick_params(length=0, labelsize=7)
    axes.xaxis.tick_top()
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)
    _legend(axes)
    columns = [
        "scenario",
        "variant",
        "seed",
        "formed",
        "cycle",
        "episodes",
        "least_goodput",
        "mean_goodput",
    ]
    return Drawn(canvas, runs[columns].assign(outcome=told), NOTES)


NOTES = (
    "Deadlock: when it formed, after the start of the traffic. Flows: goodput of the slowest flow.",
    "Starved: no deadlock, but the slowest flow gets less than 1 % of the best scheme's mean.",
    "In a routing loop nothing arrives, whatever the scheme: the frames expire.",
)


def _outcome(run: object, best: float) -> tuple[str, str, str]:
    """Return the outcome of a run, its colour and its text."""
    formed, times = run["formed"] / 1e6, int(run["episodes"])
    if run["deadlock"] and (times > 1 or not run["at_end"]):
        again = f"{times}×"
        return "broken", BROKEN, f"broken {again}\n{run['least_goodput'] / 1e9:.2f} Gb/s"
    if run["deadlock"]:
        return "deadlock", DEADLOCK, f"deadlock\nafter {formed:.0f} µs"
    if str(run["scenario"]).startswith("loop"):
        return "no deadlock", FLOWS, "frames\nexpire"
    if run["least_goodput"] < STARVED * best:
        return "starved", STARVES, "starved"
    return "flows", FLOWS, f"{run['least_goodput'] / 1e9:.1f} Gb/s"


def _cell(x: int, y: int, colour: str) -> object:
    from matplotlib.patches import Rectangle

    return Rectangle((x - 0.48, y - 0.46), 0.96, 0.92, facecolor=colour, edgecolor="none")


def _legend(axes: object) -> None:
    from matplotlib.patches import Patch

    names = {
        DEADLOCK: "deadlock",
        BROKEN: "deadlocks, broken by the scheme",
        STARVES: "starved",
        FLOWS: "no deadlock",
    }
    handles = [Patch(facecolor=colour, label=name) for colour, name in names.items()]
    axes.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.02), ncol=4)
