"""The look of every figure: sizes, fonts, and colours that also differ in grey."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMN_INCHES = {"one": 3.35, "two": 7.0}
"""Width of a figure that spans one or two columns of a paper [in]."""

COLOURS = ("#0173b2", "#d55e00", "#029e73", "#cc78bc", "#ca9161", "#56b4e9", "#949494", "#de8f05")
"""seaborn's "colorblind" palette, ordered so that neighbours also differ in lightness."""
DASHES: tuple[Any, ...] = (
    "-",
    (0, (4, 1.5)),
    (0, (1, 1)),
    (0, (6, 1.5, 1, 1.5)),
    (0, (3, 1, 1, 1)),
)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\", "----", "++", "oo")

RC: dict[str, Any] = {
    "pdf.fonttype": 42,  # TrueType: Type 3 fonts are refused by ACM and IEEE
    "ps.fonttype": 42,
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same on every machine
    "font.size": 7.5,
    "axes.titlesize": 8,
    "axes.labelsize": 7.5,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "legend.title_fontsize": 7,
    "legend.frameon": False,
    "axes.linewidth": 0.6,
    "axes.edgecolor": "0.25",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.formatter.useoffset": False,
    "grid.color": "0.9",
    "grid.linewidth": 0.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "lines.linewidth": 1.1,
    "lines.markersize": 3.5,
    "hatch.linewidth": 0.5,
    "path.simplify": True,
    "svg.hashsalt": "pyorch",
}


@contextmanager
def paper_style() -> Iterator[None]:
    """Draw with seaborn's paper theme and the settings above; nothing leaks out."""
    import matplotlib as mpl
    import seaborn as sns

    theme: Any = {**sns.axes_style("ticks"), **sns.plotting_context("paper"), **RC}
    with mpl.rc_context(theme):
        yield


def line_style(index: int, *, marker: bool = False) -> dict[str, Any]:
    """Colour, dashes and marker of the i-th line."""
    style = {"color": COLOURS[index % len(COLOURS)], "linestyle": DASHES[index % len(DASHES)]}
    return style | {"marker": MARKERS[index % len(MARKERS)]} if marker else style


def label_axis(name: str, unit: str) -> str:
    """The label of an axis: "Queue (KB)", or only the name for a pure number."""
    return f"{name} ({unit})" if unit else name


def leave_headroom(axes: Axes, share: float = 0.08) -> None:
    """Start a linear axis of positive values at 0 and leave room above the highest."""
    low, high = axes.get_ylim()
    if axes.get_yscale() == "linear" and low > -0.06 * high:
        axes.set_ylim(0, high * (1 + share))
