"""The headroom study's own figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from pyorch.base import units
from pyorch.report.figures import Drawn

if TYPE_CHECKING:
    from pyorch.report.data import ReportData
    from pyorch.report.figures.custom import Custom

#: Settings of which the worst start phase is taken.
SETTING = ["variant", "topology.rate", "topology.delay", "queue_pair.payload_size"]
MARKERS = {"immediate": "o", "late": "^"}
COLOURS = {"immediate": "#0173b2", "late": "#d55e00"}
LABELS = {"immediate": "PAUSE obeyed at once", "late": "PAUSE obeyed after 3 µs"}


def headroom(data: ReportData, figure: Custom) -> Drawn:
    """Draw the share of eta and of eta' that the worst start phase of each setting used."""
    runs = figure.rows_of(data)
    worst = runs.groupby(SETTING, as_index=False)[["share_of_eta", "share_of_eta_prime"]].max()
    canvas, panels = figure.canvas(rows=1, columns=2)
    shares = {"share_of_eta": "η, as published", "share_of_eta_prime": "η′"}
    for axes, (column, name) in zip(panels[0], shares.items(), strict=True):
        for number, variant in enumerate(MARKERS):
            part = worst[worst["variant"] == variant]
            axes.plot(
                _positions(part, 0.12 * (2 * number - 1)),
                part[column],
                linestyle="none",
                marker=MARKERS[variant],
                color=COLOURS[variant],
                fillstyle="none" if number else "full",
                label=LABELS[variant],
            )
        axes.axhline(1, linestyle="--", color="0.3", linewidth=1)
        axes.set_title(f"relative to {name}")
        axes.set_xlabel("Link rate (Gb/s)")
        axes.set_xticks(range(len(_rates(worst))), [f"{rate / 1e9:g}" for rate in _rates(worst)])
    panels[0][0].set_yscale("log", base=2)
    panels[0][0].set_yticks([0.5, 1, 2, 4, 8], ["½", "1", "2", "4", "8"])
    panels[0][1].set_ylim(0, 1.1)
    panels[0][0].set_ylabel("Headroom used")
    handles, labels = panels[0][0].get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside lower center", ncols=2)
    over = int((worst["share_of_eta"] > 1).sum())
    note = f"{over} of {len(worst)} settings need more than η; none may need more than η′."
    return Drawn(canvas, worst, [note])


def _rates(runs: pd.DataFrame) -> list[int]:
    return sorted({_bits(rate) for rate in runs["topology.rate"]})


def _bits(rate: object) -> int:
    return units.parse_rate(rate) if isinstance(rate, str) else int(float(str(rate)))


def _positions(runs: pd.DataFrame, shift: float) -> list[float]:
    rates = _rates(runs)
    return [rates.index(_bits(rate)) + shift for rate in runs["topology.rate"]]
