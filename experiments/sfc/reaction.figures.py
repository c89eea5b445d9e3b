"""The figure of the study of reaction times."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from pyorch.report.figures import Drawn
from pyorch.report.style import COLOURS, HATCHES

if TYPE_CHECKING:
    from pyorch.report.data import ReportData
    from pyorch.report.figures.custom import Custom

#: Of each variant: which metric, what it is called, and what the slides say [us].
BARS = (
    ("SFC, ToR, chips", "reaction", "SFC, local ToR, chips only", 2.0),
    ("SFC, spine, chips", "reaction", "SFC, spine, chips only", 3.5),
    ("SFC, full path, chips", "reaction", "SFC, full path, chips only", 7.0),
    ("SFC, ToR", "reaction", "SFC, local ToR", None),
    ("SFC, spine", "reaction", "SFC, spine", None),
    ("SFC, far ToR", "reaction", "SFC, far ToR", 10.0),
    ("SFC, far NIC", "reaction", "SFC, destination NIC", 10.0),
    ("PFC", "pfc_ingress_stops", "PFC, own ingress stops", 2.0),
    ("PFC", "pfc_source_stops", "PFC, source stops", None),
    ("DCQCN, marked at dequeue", "first_cut", "DCQCN at dequeue, first cut", None),
    ("DCQCN, marked at dequeue", "to_a_quarter", "DCQCN at dequeue, a quarter", None),
    ("DCQCN, local ToR", "first_cut_local", "DCQCN at enqueue, local ToR, first cut", None),
    ("DCQCN, marked at enqueue", "first_cut", "DCQCN at enqueue, first cut", 64.0),
    ("DCQCN, marked at enqueue", "to_a_quarter", "DCQCN at enqueue, a quarter", 100.0),
)
#: Schemes, in the order of their colours.
SCHEMES = ("SFC", "PFC", "DCQCN")


def reaction(data: ReportData, figure: Custom) -> Drawn:
    """Draw the time of each reaction, with what the slides say."""
    runs = figure.rows_of(data).set_index("variant")
    rows = [
        (label, float(runs.loc[variant, metric]) / 1e6, slides, label.split(",")[0].split()[0])
        for variant, metric, label, slides in BARS
    ]
    table = pd.DataFrame(rows, columns=["what", "measured_us", "slides_us", "scheme"])
    canvas, panels = figure.canvas(rows=1, columns=1)
    axes = panels[0][0]
    places = list(range(len(table)))[::-1]
    for number, scheme in enumerate(SCHEMES):
        part = table[table["scheme"] == scheme]
        axes.barh(
            [places[index] for index in part.index],
            part["measured_us"],
            color=COLOURS[number],
            hatch=HATCHES[number],
            edgecolor="white",
            height=0.7,
            label=scheme,
        )
    said = table.dropna(subset=["slides_us"])
    axes.plot(
        said["slides_us"],
        [places[index] for index in said.index],
        linestyle="none",
        marker="D",
        color="black",
        markersize=4,
        label="slides",
    )
    ends = table[["measured_us", "slides_us"]].max(axis=1)
    for place, time, end in zip(places, table["measured_us"], ends, strict=True):
        axes.annotate(
            f"{time:.1f}",
            (end, place),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontsize=6.5,
        )
    axes.set_xscale("log")
    axes.set_xlim(1, float(table["measured_us"].max()) * 1.6)
    axes.set_yticks(places, labels=table["what"])
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("Time from the queue's passing its threshold (µs)")
    canvas.legend(loc="outside lower center", ncols=4)
    note = (
        "Chips only: without wires, and half of the spine's three chips, as the slides add up. The"
        " slides' 10 µs is an upper bound, their 100 µs a lower one."
    )
    return Drawn(canvas, table, [note])
