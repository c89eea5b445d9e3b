"""Figures that the page lets people zoom, filter and play: descriptions for Plotly.

A live figure is a dictionary of `data`, `layout` and, when it plays, `frames`, as Plotly.newPlot
takes it. Nothing here imports plotly; the page brings its library (pyorch.report.embed).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Spec = dict[str, Any]

FONT = "system-ui, -apple-system, 'Segoe UI', sans-serif"
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
_PIXELS_AN_INCH = 130
GAP, GAP_OF_LABELS = 0.03, 0.09
"""Between panels side by side, and where the labels of marks stand there."""


def dash(index: int) -> str:
    """The dashes of the i-th line, as the printed figure has them."""
    return _DASHES[index % len(_DASHES)]


def numbers(values: Iterable[float], digits: int = 7) -> list[float]:
    """Numbers with so many significant digits, so that a page stays small."""
    return [float(f"{value:.{digits}g}") for value in values]


def layout(height_inches: float, **more: Any) -> Spec:
    """What all live figures share: paper white as the printed ones, no margins to waste."""
    return {
        "height": round(height_inches * _PIXELS_AN_INCH),
        "autosize": True,
        "paper_bgcolor": "#fff",
        "plot_bgcolor": "#fff",
        "font": {"family": FONT, "size": 12, "color": "#222"},
        "margin": {"l": 65, "r": 20, "t": 40, "b": 50},
        "hovermode": "closest",
        "dragmode": "zoom",
        **more,
    }


def axis(**more: Any) -> Spec:
    """An axis as the printed figures have it."""
    return {
        "showline": True,
        "linecolor": "#444",
        "gridcolor": "#e6e6e6",
        "zeroline": False,
        "ticks": "outside",
        "automargin": True,
        **more,
    }


def mark(panel: int, level: float, label: str, *, above: bool) -> tuple[Spec, Spec]:
    """(a horizontal reference line, its label to the right of it) in a panel (from 1) of a grid.

    The label stands beside the panel, where it hides no data; above or below the line, so that
    those of lines that are near stay apart.
    """
    number = "" if panel == 1 else str(panel)
    place = {"xref": f"x{number} domain", "yref": f"y{number}"}
    line = {"color": "#555", "width": 1, "dash": "dot"}
    shape = {"type": "line", **place, "x0": 0, "x1": 1, "y0": level, "y1": level, "line": line}
    note = {
        **place,
        "text": label,
        "x": 1,
        "y": level,
        "xanchor": "left",
        "yanchor": "bottom" if above else "top",
        "xshift": 2,
        "yshift": -4 if above else 4,
        "showarrow": False,
        "font": {"size": 10, "color": "#333"},
    }
    return shape, note


def upright(panel: int, at: float) -> Spec:
    """An upright reference line in a panel (from 1) of a grid."""
    number = "" if panel == 1 else str(panel)
    place = {"xref": f"x{number}", "yref": f"y{number} domain", "y0": 0, "y1": 1}
    line = {"color": "#888", "width": 1, "dash": "dot"}
    return {"type": "line", **place, "x0": at, "x1": at, "line": line}


def grid_axes(
    rows: int,
    columns: int,
    x: Spec,
    ys: Sequence[Spec],
    titles: Sequence[str],
    *,
    gap_x: float = GAP,
) -> tuple[Mapping[str, Spec], list[Spec]]:
    """(axes of the layout, titles as annotations) of rows x columns panels, the first row on top.

    All panels share the x axis, and the panels of a row its y axis. gap_x: between panels, as a
    share of the width.
    """
    axes: dict[str, Spec] = {}
    gap_y = 0.05
    wide = (1 - gap_x * (columns - 1)) / columns
    high = (1 - gap_y * (rows - 1)) / rows
    for row in range(rows):
        for column in range(columns):
            number = row * columns + column + 1
            suffix = "" if number == 1 else str(number)
            first = "" if row == 0 else str(row * columns + 1)
            left, top = column * (wide + gap_x), 1 - row * (high + gap_y)
            own_x = {**x, "domain": [left, min(left + wide, 1)], "anchor": f"y{suffix}"}
            own_y = {**ys[row], "domain": [max(top - high, 0), top], "anchor": f"x{suffix}"}
            if number > 1:
                own_x["matches"] = "x"
            if row + 1 < rows:
                own_x |= {"showticklabels": False, "title": {"text": ""}}
            if column:
                own_y |= {"matches": f"y{first}", "showticklabels": False, "title": {"text": ""}}
            axes |= {f"xaxis{suffix}": own_x, f"yaxis{suffix}": own_y}
    notes = [
        {
            "text": title,
            "x": column * (wide + gap_x) + wide / 2,
            "y": 1,
            "xref": "paper",
            "yref": "paper",
            "xanchor": "center",
            "yanchor": "bottom",
            "showarrow": False,
            "font": {"size": 13},
        }
        for column, title in enumerate(titles)
        if title
    ]
    return axes, notes
