"""The outcome of every scenario under every scheme: deadlock, starvation, or what flows get."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyorch.report.figures import Drawn

if TYPE_CHECKING:
    from pandas import DataFrame

    from pyorch.report.data import ReportData
    from pyorch.report.figures.custom import CustomFigure

STARVED = 0.01
"""Share of a scenario's largest mean goodput below which its slowest flow is starved."""

BROKEN, DEADLOCK, EXPIRES = "#f2b134", "#c0392b", "0.88"
SHARES = "Greens"
"""Colours of what the slowest flow gets: the darker, the nearer to the best of the scenario."""
LIGHTEST, DARKEST = 0.02, 0.6  # of the colours; text stays legible on both
WIDEST = 14
"""Letters of a scenario's name on one line."""


def outcomes(data: ReportData, figure: CustomFigure) -> Drawn:
    """Draw a table of schemes and scenarios: the outcome of all seeds, and when or how much."""
    runs = figure.rows_of(data)
    schemes = list(dict.fromkeys(runs["variant"]))
    scenarios = list(dict.fromkeys(runs["scenario"]))
    canvas, panels = figure.canvas(rows=1, columns=1)
    axes = panels[0][0]
    best = runs.groupby("scenario")[["mean_goodput", "least_goodput"]].max()
    for (variant, scenario), seeds in runs.groupby(["variant", "scenario"]):
        colour, text = _outcome(seeds, str(scenario), *map(float, best.loc[scenario]))
        x, y = scenarios.index(scenario), schemes.index(variant)
        axes.add_patch(_cell(x, y, colour))
        ink = "white" if colour == DEADLOCK else "0.1"
        axes.text(x, y, text, ha="center", va="center", fontsize=6.5, linespacing=1.1, color=ink)
    axes.set_xlim(-0.5, len(scenarios) - 0.5)
    axes.set_ylim(len(schemes) - 0.5, -0.5)
    labels = [name.replace("-", "-\n") if len(name) > WIDEST else name for name in scenarios]
    axes.set_xticks(range(len(scenarios)), labels)
    axes.set_yticks(range(len(schemes)), schemes)
    axes.tick_params(length=0, labelsize=7)
    axes.xaxis.tick_top()
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)
    _legend(canvas)
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
    return Drawn(canvas, runs[[*columns, "deadlock", "at_end"]], NOTES)


NOTES = (
    (
        "Deadlock: when it formed, after the start of the traffic, in the mean over the seeds; "
        "where not all of them deadlock, how many. Flows: goodput of the slowest flow in the "
        "mean, and what share that is of the best scheme's in the scenario."
    ),
    "Starved: no deadlock, but the slowest flow gets less than 1 % of the best scheme's mean.",
    "In a routing loop nothing arrives, whatever the scheme: the frames expire.",
)


def _outcome(seeds: DataFrame, scenario: str, mean: float, least: float) -> tuple[str, str]:
    """Return the colour and the text of a scenario under a scheme.

    seeds: its runs. mean, least: the best mean goodput, and the best of slowest flows, of a run of
    any scheme in the scenario [bit/s].
    """
    slowest = float(seeds["least_goodput"].mean())
    stuck = seeds[seeds["deadlock"] > 0]
    if len(stuck):
        often = f"{len(stuck)} of {len(seeds)}"
        all_of = len(stuck) == len(seeds)
        if bool(((stuck["episodes"] > 1) | (stuck["at_end"] == 0)).all()):
            times = f"{stuck['episodes'].mean():.0f}×" if all_of else f"in {often}"
            return BROKEN, f"broken {times}\n{slowest / 1e9:.2f} Gb/s"
        when = f"after {stuck['formed'].mean() / 1e6:,.0f} µs" if all_of else f"in {often}"
        return DEADLOCK, f"deadlock\n{when}"
    if scenario.startswith("loop"):
        return EXPIRES, "frames\nexpire"
    share = slowest / least if least else 0.0
    text = "starved" if slowest < STARVED * mean else f"{slowest / 1e9:.1f} Gb/s"
    return _shade(share), f"{text}\n{100 * share:.0f} %"


def _shade(share: float) -> str:
    """Return the colour of a share of the best."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    return to_hex(colormaps[SHARES](LIGHTEST + (DARKEST - LIGHTEST) * min(share, 1.0)))


def _cell(x: int, y: int, colour: str) -> object:
    from matplotlib.patches import Rectangle

    return Rectangle((x - 0.48, y - 0.46), 0.96, 0.92, facecolor=colour, edgecolor="none")


def _legend(canvas: object) -> None:
    from matplotlib.patches import Patch

    names = {
        DEADLOCK: "deadlock",
        BROKEN: "deadlocks, broken by the scheme",
        EXPIRES: "routing loop, no deadlock",
        _shade(0.0): "slowest flow gets nothing",
        _shade(0.5): "half",
        _shade(1.0): "as much as under the best scheme",
    }
    handles = [
        Patch(facecolor=colour, label=name, edgecolor="0.6", linewidth=0.4)
        for colour, name in names.items()
    ]
    canvas.legend(handles=handles, loc="outside lower center", ncols=3)
