"""The figure of the study of reaction times."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from pyorch.report.figures import Drawn
from pyorch.report.style import COLOURS, MARKERS

if TYPE_CHECKING:
    from pyorch.report.data import ReportData
    from pyorch.report.figures.custom import Custom

#: Of each variant: which metric, what it is called, and what the slides say [us], from and to;
#: None: no bound on that side.
BARS = (
    ("SFC, ToR, chips", "reaction", "SFC, local ToR, chips only", (2.0, 2.0)),
    ("SFC, spine, chips", "reaction", "SFC, spine, chips only", (3.5, 3.5)),
    ("SFC, full path, chips", "reaction", "SFC, full path, chips only", (7.0, 7.0)),
    ("SFC, ToR", "reaction", "SFC, local ToR", ()),
    ("SFC, spine", "reaction", "SFC, spine", ()),
    ("SFC, far ToR", "source_stops", "SFC, far ToR", (None, 10.0)),
    ("SFC, far NIC", "source_stops_nic", "SFC, destination NIC", (None, 10.0)),
    ("PFC, XOFF 10 KB", "pfc_stops_10kb", "PFC, XOFF of 10 KB", (50.0, 200.0)),
    ("PFC", "pfc_source_stops", "PFC, XOFF of 62.5 KB", (50.0, 200.0)),
    ("PFC, XOFF 125 KB", "pfc_stops_125kb", "PFC, XOFF of 125 KB", (50.0, 200.0)),
    ("DCQCN, marked at enqueue", "first_cut", "DCQCN, first cut", (64.0, 64.0)),
    ("DCQCN, marked at enqueue", "to_a_quarter", "DCQCN, a quarter", (100.0, None)),
    ("DCQCN, marked at dequeue", "to_a_quarter", "DCQCN at dequeue, a quarter", (100.0, None)),
    (
        "DCQCN, HPCC, marked at dequeue",
        "to_a_quarter",
        "DCQCN of HPCC at dequeue, a quarter",
        (100.0, None),
    ),
)
TICKS = (1, 2, 5, 10, 20, 50, 100, 200, 500)
#: Schemes, in the order of their colours.
SCHEMES = ("SFC", "PFC", "DCQCN")


def reaction(data: ReportData, figure: Custom) -> Drawn:
    """Draw the time of each reaction as a point, with what the slides say as a line or a band."""
    runs = figure.rows_of(data).groupby("variant").mean(numeric_only=True)
    rows = [
        (label, float(runs.loc[variant, metric]) / 1e6, *(said or (None, None)), label.split()[0])
        for variant, metric, label, said in BARS
    ]
    columns = ["what", "measured_us", "slides_from_us", "slides_to_us", "scheme"]
    table = pd.DataFrame(rows, columns=columns).assign(
        scheme=lambda found: found["scheme"].str.rstrip(",")
    )
    canvas, panels = figure.canvas(rows=1, columns=1)
    axes = panels[0][0]
    places = list(range(len(table)))[::-1]
    axes.set_xscale("log")
    low, high = 1.0, 700.0
    axes.set_xlim(low, high)
    texts = ["slides: a range or a bound", "slides: a number"]
    for place, (_, _, _, said) in zip(places, BARS, strict=True):
        if not said:
            continue
        start, end = said[0] or low, said[1] or high
        name = texts[start == end]
        texts[start == end] = "_"  # once in the legend
        if start == end:
            span = [place - 0.4, place + 0.4]
            axes.plot([start] * 2, span, color="0.2", linewidth=1.4, label=name)
        else:
            axes.barh(place, end - start, left=start, height=0.8, color="0.85", label=name)
    for number, scheme in enumerate(SCHEMES):
        part = table[table["scheme"] == scheme]
        axes.plot(
            part["measured_us"],
            [places[index] for index in part.index],
            linestyle="none",
            marker=MARKERS[number],
            markersize=5,
            color=COLOURS[number],
            label=scheme,
        )
    for place, time in zip(places, table["measured_us"], strict=True):
        axes.annotate(
            f"{time:.3g}",
            (time, place),
            xytext=(7, 0),
            textcoords="offset points",
            va="center",
            fontsize=7,
        )
    axes.set_xticks(TICKS, [str(tick) for tick in TICKS])
    axes.minorticks_off()
    axes.set_yticks(places, labels=table["what"])
    axes.set_xlabel("Time from the queue's passing its threshold (µs)")
    canvas.legend(loc="outside lower center", ncols=5)
    note = (
        "Chips only: without wires, and half of the spine's three chips, as the slides add up. "
        "The slides name no XOFF for PFC. DCQCN marks at enqueue unless it is said."
    )
    return Drawn(canvas, table, [note])
