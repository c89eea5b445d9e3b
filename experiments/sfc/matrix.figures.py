"""The slides' table as measured: one cell a scene and scheme."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from pyorch.metrics import parse_quantity
from pyorch.report.figures import Drawn

if TYPE_CHECKING:
    from pyorch.report.data import ReportData
    from pyorch.report.figures.custom import Custom

UNITS = {"us": 1e6, "Gbps": 1e9, "": 1.0}
YES, NO = "#c6dfef", "#f4c9a8"  # also told apart by the words


def limit_of(row: dict[str, Any]) -> tuple[str, float]:
    """On which side of which bound [base unit] is yes."""
    sign, key = ("≤", "max") if "max" in row else ("≥", "min")
    return sign, parse_quantity(row[key]).value


def holds(row: dict[str, Any], value: float) -> bool:
    """Whether a measured value [base unit] meets the row's bound."""
    sign, limit = limit_of(row)
    return value <= limit if sign == "≤" else value >= limit


def bound(row: dict[str, Any]) -> str:
    """What counts as yes, in the row's unit."""
    sign, limit = limit_of(row)
    return f"yes: {sign} {limit / UNITS[row['unit']]:g}"


def matrix(data: ReportData, figure: Custom) -> Drawn:
    """Draw yes or no with the mean behind it; an exclamation mark where the slides differ.

    Where the runs do not agree it is how many of them say yes.
    """
    rows: list[dict[str, Any]] = figure.options["rows"]
    schemes: list[str] = figure.options["schemes"]
    runs = figure.rows_of(data)
    canvas, panels = figure.canvas(rows=1, columns=1)
    axes = panels[0][0]
    cells = []
    for y, row in enumerate(rows):
        said = dict(
            zip(
                ("PFC", "DCQCN", "SFC", "SFC-class"),
                [*row["slides"], row["slides"][-1]],
                strict=True,
            )
        )
        for x, scheme in enumerate(schemes):
            values = runs.loc[runs["variant"] == scheme, row["metric"]].astype(float)
            value = float(values.mean())
            yes = sum(holds(row, one) for one in values)
            good = yes == len(values)
            slides = said.get(scheme, "")
            differs = bool(slides) and good != (slides == "yes")
            number = value / UNITS[row["unit"]]
            shown = f"{number:,.0f}" if number >= 100 or not row["unit"] else f"{number:.3g}"
            word = "yes" if good else f"{yes} of {len(values)}" if yes else "no"
            text = f"{word}{' !' if differs else ''}"
            axes.fill(
                [x - 0.5, x + 0.5, x + 0.5, x - 0.5],
                [y - 0.5, y - 0.5, y + 0.5, y + 0.5],
                color=YES if good else NO,
                linewidth=0,
            )
            axes.text(
                x,
                y - 0.14,
                text,
                ha="center",
                va="center",
                fontsize=8,
                fontweight="bold" if differs else "normal",
            )
            axes.text(x, y + 0.24, shown, ha="center", va="center", fontsize=6)
            cells.append([row["metric"], scheme, value, good, slides, differs])
    units = {"us": " (µs)", "Gbps": " (Gb/s)", "": ""}
    labels = [
        (f"{row['label']}\n" if row["label"] else "")
        + f"{row['what']}{units[row['unit']]}\n{bound(row)}"
        for row in rows
    ]
    axes.set_xticks(
        range(len(schemes)),
        [name.replace(" per ", "\nper ").replace("+", "\n+ ") for name in schemes],
    )
    axes.set_yticks(range(len(rows)), labels)
    axes.set_xlim(-0.5, len(schemes) - 0.5)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.grid(visible=False)
    for edge in range(1, len(schemes)):
        axes.axvline(edge - 0.5, color="white", linewidth=1.5)
    for edge in range(1, len(rows)):
        axes.axhline(edge - 0.5, color="white", linewidth=1.5)
    for spine in axes.spines.values():
        spine.set_visible(False)
    table = pd.DataFrame(cells, columns=["metric", "scheme", "value", "yes", "slides", "differs"])
    note = "An exclamation mark: the slides say otherwise. Of combinations they say nothing."
    return Drawn(canvas, table, [note])
