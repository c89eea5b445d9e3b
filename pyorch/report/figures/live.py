"""What the page's interactive figures (zoom, filter, play) share as Plotly figures.

The page brings Plotly's JavaScript (pyorch.report.embed) and draws what `to_json` says.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from pyorch.base.lazy import np

_DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
_PIXELS_AN_INCH = 130
_GAP, _GAP_OF_LABELS = 0.03, 0.09
"""Gap between panels side by side, and the position of the labels of marks in it."""
LAYOUT: dict[str, Any] = {
    "autosize": True,
    "paper_bgcolor": "#fff",
    "plot_bgcolor": "#fff",
    "font": {"family": "system-ui, -apple-system, 'Segoe UI', sans-serif", "size": 12},
    "font_color": "#222",
    "margin": {"l": 65, "r": 20, "t": 40, "b": 50},
    "hovermode": "closest",
    "template": None,  # Plotly's own look: 7 KB that the page would override
}
_AXIS: dict[str, Any] = {
    "showline": True,
    "linecolor": "#444",
    "gridcolor": "#e6e6e6",
    "zeroline": False,
    "ticks": "outside",
    "automargin": True,
}


def dash(index: int) -> str:
    """The dashes of the i-th line, as the printed figure has them."""
    return _DASHES[index % len(_DASHES)]


def numbers(values: Iterable[float]) -> Any:
    """Numbers with some seven significant digits, so that a page stays small."""
    return np.fromiter(values, dtype=np.float32)


def height(inches: float) -> int:
    """The height of a figure on the page [px]."""
    return round(inches * _PIXELS_AN_INCH)


def panels(rows: int, titles: Sequence[str], inches: float, *, labels: bool = False) -> Any:
    """A figure of rows x titles panels, white like the printed ones; the first row is on top.

    All panels share the x axis, those of a row also the y axis. labels: leave room for labels of
    marks between panels.
    """
    from plotly.subplots import make_subplots

    figure = make_subplots(
        rows,
        len(titles),
        shared_xaxes="all",
        shared_yaxes=True,
        column_titles=list(titles),
        horizontal_spacing=_GAP_OF_LABELS if labels else _GAP,
        vertical_spacing=0.05,
    )
    figure.update_layout(height=height(inches), **LAYOUT)
    figure.update_annotations(font_size=13)
    return figure.update_xaxes(**_AXIS).update_yaxes(**_AXIS)


def mark(
    figure: Any,
    place: tuple[int, int],
    level: float,
    label: str,
    *,
    above: bool,
    log: bool = False,
) -> None:
    """Draw a horizontal reference line into the panel of a (row, column), and its label.

    The label is placed next to the panel, where it hides no data; above or below the line, so that
    labels of close lines do not overlap.
    """
    about: dict[str, Any] = {}
    if label:
        about = {
            "text": label,
            "x": 1,
            "xanchor": "left",
            "yanchor": "bottom" if above else "top",
            "xshift": 2,
            "yshift": -4 if above else 4,
            "font": {"size": 10, "color": "#333"},
        }
        if log:  # Plotly places lines by their values, but texts by the logarithm
            about["y"] = math.log10(level)
    row, column = place
    figure.add_hline(
        level,
        row=row,
        col=column,
        line={"color": "#555", "width": 1, "dash": "dot"},
        annotation=about or None,
    )
