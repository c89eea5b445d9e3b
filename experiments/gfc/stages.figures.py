"""The figures of the study of multi-stage GFC's bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyorch.base.units import parse_bytes
from pyorch.report.figures import Drawn
from pyorch.report.style import COLOURS, line_style
from pyorch.sizing.gfc import stages as stage_table

if TYPE_CHECKING:
    from pyorch.report.data import ReportData
    from pyorch.report.figures.custom import Custom

#: Of the study: Bm [B], C [bit/s], tau [s] of each variant, and equation 1's bound by ratio.
BM, RATE = 400_000, 10**10
TAU = {"tau = 12.5 us": 12.5e-6, "tau = 25 us": 25e-6, "tau = 50 us": 50e-6}
BOUND = {0.5: ("2 C τ", "ratio ½"), 0.75: ("4 C τ", "ratio ¾")}
FROM, TO = 0.5, 6


def stages(data: ReportData, figure: Custom) -> Drawn:
    """Draw the excess of the peak over Bm, over (Bm - B1) / C tau, for both ratios."""
    runs = figure.rows_of(data).copy()
    runs["reach"] = [RATE / 8 * TAU[str(variant)] for variant in runs["variant"]]
    runs["range"] = [BM - parse_bytes(str(b1)) for b1 in runs["multi-stage-gfc.b1"]]
    runs["range"] /= runs["reach"]
    runs["excess"] = (runs["peak"] - BM) / runs["reach"]
    runs = runs.sort_values(["variant", "range"])
    shown = runs[(runs["range"] >= FROM) & (runs["range"] <= TO)]
    canvas, panels = figure.canvas(columns=2, sharey=True)
    for axes, (ratio, (bound, title)) in zip(panels[0], BOUND.items(), strict=True):
        for number, variant in enumerate(TAU):
            part = shown[shown["variant"] == variant]
            part = part[part["multi-stage-gfc.ratio"].astype(float) == ratio]
            style = line_style(number, marker=True) | {
                "label": variant.replace("us", "µs").replace("tau", "τ")
            }
            axes.plot(part["range"], part["excess"], **style)
        axes.axhline(0, linestyle="--", color="0.3", linewidth=0.8)
        place = 1 / (1 - ratio)
        axes.axvline(place, linestyle=":", color="0.4", linewidth=1)
        axes.text(place + 0.08, 0.5, bound, va="top", fontsize=7, color="0.3")
        axes.set_title(title)
        axes.set_xlabel("(Bm − B1) / C τ")
    panels[0][0].set_ylabel("(Longest queue − Bm) / C τ")
    canvas.legend(*panels[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    note = (
        "Dotted: equation 1, Bm − B1 = C τ / (1 − ratio); section 4.2 has 2 C τ for ½. "
        "The receiver takes 1 %. "
        f"Of {len(runs)} runs the {len(shown)} with {FROM} to {TO} C τ are shown."
    )
    columns = ["variant", "multi-stage-gfc.ratio", "range", "peak", "excess"]
    return Drawn(canvas, runs[columns], [note])


def equation_1(data: ReportData, figure: Custom) -> Drawn:
    """Draw the rate at which frames arrive over the queue that they find, with the stages."""
    (_, row), *others = figure.rows_of(data).iterrows()
    if others:
        raise ValueError("one run is shown")
    queue, rate = (data.table(row["hash"], name) for name in ("queue", "rate"))
    if queue is None or rate is None:
        raise ValueError("queue and rate must be traced")
    # The rate of a frame: its bits over the time since the one before.
    gap = rate["time_ps"].diff()
    arriving = rate["rx_bytes"] * 8e12 / gap
    held = queue.groupby("time_ps")["bytes"].last().reindex(rate["time_ps"]).to_numpy()
    b1 = parse_bytes(str(row["multi-stage-gfc.b1"]))
    table = stage_table(RATE, b1, BM)
    canvas, panels = figure.canvas()
    axes = panels[0][0]
    starts = [stage.start / 1e3 for stage in table[:8]]
    rates = [stage.rate / 1e9 for stage in table[:8]]
    axes.step(starts, rates, where="post", color="0.45", linewidth=1, label="Stages: R_k from B_k")
    kept = (gap > 0) & (held > b1 - 60_000)
    shown = rate[kept].assign(rate_bps=arriving[kept], queue_bytes=held[kept])
    axes.plot(
        shown["queue_bytes"] / 1e3,
        shown["rate_bps"] / 1e9,
        linestyle="none",
        marker=".",
        markersize=2,
        color=COLOURS[0],
        label="Frames as they arrive",
    )
    axes.set_yscale("log")
    axes.set_yticks([10, 5, 2.5, 1.25, 0.625, 0.3125], ["10", "5", "2.5", "1.25", "0.63", "0.31"])
    axes.minorticks_off()
    axes.set_xlim((b1 - 60_000) / 1e3, BM / 1e3 + 2)
    axes.set_xlabel("Queue (KB)")
    axes.set_ylabel("Input rate (Gb/s)")
    axes.legend(loc="lower left")
    note = "A stage's end is its step: frames reach R_k no further right than where stage k ends."
    return Drawn(canvas, shown[["time_ps", "queue_bytes", "rate_bps"]], [note])
