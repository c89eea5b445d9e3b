"""The overhead study's own figure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pyorch.report.figures import Drawn
from pyorch.report.style import label_axis, line_style

if TYPE_CHECKING:
    from pandas import DataFrame

    from pyorch.report.data import ReportData
    from pyorch.report.figures.custom import Custom

#: Scheme of a variant "plain-10G" -> what the legend calls it.
SCHEMES = {
    "plain": "stages, plain thresholds",
    "hysteresis": "stages, hysteresis of an MTU",
    "stage": "stages, hysteresis of a stage",
    "gap": "stages, least gap τ",
    "conceptual": "conceptual",
    "time-based": "time-based",
    "credit": "CBFC",
    "pfc": "PFC",
}
#: Of the study: frame and message [B], and the part of tau that does not depend on the rate [s].
MTU, MESSAGE, FIXED = 1500, 64, 5e-6
PANELS = {
    "half": "settled, drain C/2",
    "third": "settled, drain C/3",
    "worst": "worst span of τ",
}


def tau(rate: float) -> float:
    """The feedback latency at a link rate [Gb/s], in seconds."""
    return 2 * MTU * 8 / (rate * 1e9) + FIXED


def bound(rate: float) -> float:
    """The share m/tau of a link [Gb/s], in percent."""
    return 100 * MESSAGE * 8 / (tau(rate) * rate * 1e9)


def shares(runs: DataFrame) -> DataFrame:
    """Scheme, rate [Gb/s] and the shares [%] of every panel."""
    table = runs[["variant"]].copy()
    parts = table["variant"].str.rpartition("-")
    table["scheme"], table["rate"] = parts[0], parts[2].str.removesuffix("G").astype(float)
    table["half"], table["third"] = 100 * runs["share_half"], 100 * runs["share_third"]
    table["worst"] = [
        100 * run[f"worst_{rate}"] for rate, (_, run) in zip(parts[2], runs.iterrows(), strict=True)
    ]
    return table.sort_values(["scheme", "rate"])


def overhead(data: ReportData, figure: Custom) -> Drawn:
    """Draw the share over the link rate, one panel a phase, with both formulas."""
    runs = figure.rows_of(data)
    table = shares(runs[~runs["variant"].str.startswith("drain-")])
    canvas, panels = figure.canvas(rows=1, columns=len(PANELS), sharey=True)
    for axes, (column, title) in zip(panels[0], PANELS.items(), strict=True):
        for index, (scheme, label) in enumerate(SCHEMES.items()):
            line = table[table["scheme"] == scheme]
            axes.plot(
                line["rate"],
                line[column],
                label=label,
                clip_on=False,
                **line_style(index, marker=True),
            )
        rates = sorted(table["rate"].unique())
        top = [bound(rate) for rate in rates]
        axes.plot(rates, top, color="black", linewidth=2, alpha=0.5, label="m/τ")
        if column != "worst":
            low = [share / 8 for share in top]
            axes.plot(
                rates, low, color="black", linewidth=2, alpha=0.5, linestyle=":", label="m/(8τ)"
            )
        axes.set_title(title)
        axes.set_xscale("log")
        axes.set_xticks(rates, [f"{rate:g}" for rate in rates], minor=False)
        axes.minorticks_off()
        axes.set_yscale("symlog", linthresh=0.01)
        axes.set_ylim(0, 10)
        axes.set_yticks([0, 0.01, 0.1, 1, 10], ["0", "0.01", "0.1", "1", "10"])
        axes.set_xlabel(label_axis("Link rate", "Gb/s"))
    panels[0][0].set_ylabel(label_axis("Share of the link", "%"))
    handles, labels = panels[0][0].get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=7)
    notes = [
        "Messages of 64 B, nothing else on the way back; below 0.01 % the scale is linear.",
        "CBFC and time-based GFC send the same messages.",
        "At worst, least gap, CBFC, time-based and PFC lie on m/τ: one message in the span.",
    ]
    return Drawn(canvas, table, notes)


def hovering(drain: float, rate: float) -> float:
    """The share [%] that two messages a cycle take when a fluid hovers between two stages.

    The queue grows by R_k - drain and shrinks by drain - R_(k+1), each until tau after it passed
    the threshold. drain: of C, in (0, 1). rate: of the link [Gb/s].
    """
    upper = 2.0 ** math.floor(math.log2(drain)) * 2
    up, down = upper - drain, drain - upper / 2
    if not down:
        return 0.0
    return 2 * bound(rate) / (2 + up / down + down / up)


def drain(data: ReportData, figure: Custom) -> Drawn:
    """Draw the share that plain thresholds take over the drain, and a fluid's."""
    runs = figure.rows_of(data)
    runs = runs[runs["variant"].str.startswith("drain-")]
    table = runs[["variant"]].copy()
    table["drain"] = runs["variant"].str.removeprefix("drain-").astype(float) / 100
    table["share"] = 100 * runs["share_slow"]
    table["fluid"] = [hovering(value, 25) for value in table["drain"]]
    canvas, panels = figure.canvas()
    axes = panels[0][0]
    dots = line_style(0, marker=True) | {"linestyle": "none", "clip_on": False}
    axes.plot(table["drain"], table["share"], label="frames", **dots)
    places = [place / 400 for place in range(70, 372)]
    fluid = [hovering(place, 25) for place in places]
    axes.plot(places, fluid, label="fluid, two messages a cycle", **line_style(1))
    axes.axhline(bound(25), color="black", linewidth=2, alpha=0.5, label="m/τ")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("Drain / C")
    axes.set_ylabel(label_axis("Share of the link", "%"))
    handles, labels = axes.get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside lower center", ncols=2, fontsize=7)
    notes = ["None where the drain is the rate of a stage: C/4 and C/2."]
    return Drawn(canvas, table, notes)
