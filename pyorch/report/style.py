"""The style of every figure: sizes, fonts, and colours that also differ in grey."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

from pyorch.base.lazy import Later

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure as Canvas
    from matplotlib.text import Text
    from matplotlib.transforms import Bbox, BboxBase

_MAY_COVER = 0.1  # share of a text's box, which is larger than its letters
_GAP = 6  # between titles of panels, and between names of axes [px at 100 dpi]

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


@cache
def seaborn() -> Any:
    """Return seaborn, loaded without scipy unless that is loaded already.

    seaborn uses it for densities, for which it has a replacement, and for clustering; loading scipy
    takes half of the time.
    """
    absent: dict[str, Any] = {}
    if not {"seaborn", "scipy"} & sys.modules.keys() and find_spec("scipy"):
        cluster = ModuleType("scipy.cluster")
        cluster.hierarchy = Later("scipy.cluster.hierarchy")  # type: ignore[attr-defined]
        absent = {"scipy.stats": None, "scipy.cluster": cluster}  # None makes the import fail
        sys.modules.update(absent)
    try:
        import seaborn as sns
    finally:
        for name in absent:
            del sys.modules[name]
    return sns


def load_quickly() -> None:
    """Load the drawing libraries, if necessary, without Matplotlib's lists of properties.

    Matplotlib adds them to docstrings for `help`, which takes half of its loading time; commands
    do not need them, readers of a notebook may.
    """
    if {"matplotlib.artist", "IPython"} & sys.modules.keys():
        return
    from matplotlib.artist import Artist

    name = "_update_set_signature_and_docstring"
    describe = Artist.__dict__.get(name)
    if describe is not None:  # a private name of Matplotlib, which other releases may lack
        setattr(Artist, name, lambda: None)
    try:
        seaborn()
    finally:
        if describe is not None:
            setattr(Artist, name, describe)


@contextmanager
def paper_style() -> Iterator[None]:
    """Draw with seaborn's paper theme and the settings above, restoring all settings afterwards."""
    import matplotlib as mpl

    sns = seaborn()
    theme: Any = {**sns.axes_style("ticks"), **sns.plotting_context("paper"), **RC}
    with mpl.rc_context(theme):
        yield


def cycle(looks: Sequence[Any], count: int) -> list[Any]:
    """As many styles as asked for; the first follows the last."""
    return [looks[index % len(looks)] for index in range(count)]


def line_style(index: int, *, marker: bool = False) -> dict[str, Any]:
    """Colour, dashes and marker of the i-th line."""
    style = {"color": COLOURS[index % len(COLOURS)], "linestyle": DASHES[index % len(DASHES)]}
    return style | {"marker": MARKERS[index % len(MARKERS)]} if marker else style


def label_axis(name: str, unit: str) -> str:
    """The label of an axis: "Queue (KB)", or only the name for a pure number."""
    return f"{name} ({unit})" if unit else name


def plain_log_axis(
    axes: Axes, which: Literal["x", "y"], values: Mapping[float, str] | None = None
) -> None:
    """Make an axis logarithmic if anything on it is above 0, with ticks written out.

    They are those of `plain_log_ticks`; or at the given values, with their names.
    """
    from matplotlib.ticker import NullLocator

    across = which == "x"
    if not math.isfinite(axes.dataLim.minposx if across else axes.dataLim.minposy):
        return
    axis = axes.xaxis if across else axes.yaxis
    (axes.set_xscale if across else axes.set_yscale)("log")
    if values:
        axis.set_minor_locator(NullLocator())
        axis.set_ticks(list(values), list(values.values()))
    else:
        plain_log_ticks(axis)


def plain_log_ticks(axis: Axis, wide_from: float = 300) -> None:
    """Write out the ticks of a logarithmic axis: at 1, 2, 5, 10 ..., fewer for a wide range.

    wide_from: the ratio of its ends from which only powers of ten have room.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

    axis.set_minor_locator(NullLocator())
    low, high = axis.get_view_interval()
    wide = high / max(low, 1e-12) > wide_from
    locator = LogLocator(10, subs=(1.0,) if wide else (1.0, 2.0, 5.0))
    inside = [tick for tick in locator.tick_values(low, high) if low <= tick <= high]
    axis.set_major_locator(locator if len(inside) > 1 else MaxNLocator(5))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))


def leave_headroom(axes: Axes, share: float = 0.08) -> None:
    """Start a linear axis of positive values at 0 and leave room above the highest."""
    low, high = axes.get_ylim()
    if axes.get_yscale() == "linear" and low > -0.06 * high:
        axes.set_ylim(0, high * (1 + share))


@contextmanager
def measured_at(canvas: Canvas, dpi: float) -> Iterator[None]:
    """Measure the texts of a figure as they are at some dots per inch."""
    before = canvas.dpi
    canvas.dpi = dpi
    try:
        yield
    finally:
        canvas.dpi = before


def lay_out(canvas: Canvas, dpi: float) -> None:
    """Lay out a figure once and for all, so that saving it only draws it.

    Without that Matplotlib draws a figure twice for every file.
    """
    engine = canvas.get_layout_engine()
    if engine is not None:
        with measured_at(canvas, dpi):
            engine.execute(canvas)
    canvas.set_layout_engine(None)


def is_legible(canvas: Canvas) -> bool:
    """Whether texts stay inside a figure and do not overlap, and no legend crosses a panel's edge.

    Lays the figure out.
    """
    from itertools import combinations

    from matplotlib.backends.backend_agg import FigureCanvasAgg

    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)  # a layout that found no room
        try:
            canvas.draw_without_rendering()
        except UserWarning:
            return False
    renderer: Any = FigureCanvasAgg(canvas)
    renderer = renderer.get_renderer()
    px = canvas.dpi / 100
    texts, across, upright = [*canvas.texts], [], []
    for axes in canvas.axes:
        texts += axes.texts
        across.append(axes.title)
        if axes.axison:
            across.append(axes.xaxis.label)
            upright.append(axes.yaxis.label)
            texts += _ticks(axes)
        legend = axes.get_legend()
        if legend is not None and _sticks_out(legend.get_window_extent(renderer), axes.bbox, px):
            return False

    def boxes_of(shown: list[Text]) -> list[Bbox]:
        return [text.get_window_extent(renderer) for text in shown if _is_shown(text)]

    legends = [legend.get_window_extent(renderer) for legend in canvas.legends]
    width, height = canvas.bbox.x1, canvas.bbox.y1
    in_rows, in_columns = boxes_of(across), boxes_of(upright)
    boxes = [*boxes_of(texts), *in_rows, *in_columns]
    if any(
        min(b.x0, b.y0) < -px or b.x1 > width + px or b.y1 > height + px for b in (*boxes, *legends)
    ):
        return False
    shown = [text for text in (*texts, *across, *upright) if _is_shown(text)]
    for (one, box), (other, beside) in combinations(zip(shown, boxes, strict=True), 2):
        if _covered(box, beside) > _MAY_COVER and not _are_apart(one, other, renderer):
            return False
    # titles of panels and names of axes are in a row: without a gap two read as one
    rows = (
        [box.padded(_GAP * px / 2, 0) for box in in_rows],
        [box.padded(0, _GAP * px / 2) for box in in_columns],
    )
    return not any(_covered(a, b) for row in rows for a, b in combinations(row, 2))


def _is_shown(text: Text) -> bool:
    return text.get_visible() and bool(text.get_text())


def _are_apart(one: Text, other: Text, renderer: Any) -> bool:
    """Whether two texts of the same slant are apart although their level boxes overlap."""
    from matplotlib.transforms import Affine2D

    angle = one.get_rotation()
    if other.get_rotation() != angle or not angle % 90:
        return False
    boxes = []
    for text in (one, other):
        x, y = text.get_transform().transform(text.get_position())
        text.set_rotation(0)
        box = text.get_window_extent(renderer)
        text.set_rotation(angle)
        along, across = Affine2D().rotate_deg(-angle).transform((x, y))
        boxes.append(box.translated(along - x, across - y))
    return _covered(*boxes) <= _MAY_COVER


def _ticks(axes: Axes) -> list[Text]:
    """The labels of the ticks inside the limits of both axes."""
    found: list[Text] = []
    for axis, limits in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
        low, high = min(limits), max(limits)
        found += [tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
    return found


def _sticks_out(box: Bbox, panel: BboxBase, px: float) -> bool:
    """Whether a box lies partly inside a panel and partly, by more than 2 px, outside."""
    inside = box.x0 >= panel.x0 - 2 * px and box.x1 <= panel.x1 + 2 * px
    beside = box.x0 >= panel.x1 or box.x1 <= panel.x0 or box.y0 >= panel.y1 or box.y1 <= panel.y0
    return not inside and not beside


def _covered(a: Bbox, b: Bbox) -> float:
    """The share of the smaller of two boxes that lies in the other."""
    width = min(a.x1, b.x1) - max(a.x0, b.x0)
    height = min(a.y1, b.y1) - max(a.y0, b.y0)
    smaller = min(a.width * a.height, b.width * b.height)
    return width * height / smaller if width > 0 and height > 0 and smaller else 0.0
