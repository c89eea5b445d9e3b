"""The load of links as Plotly figures: hovering shows name and share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pyorch.report.figures import live
from pyorch.report.figures.network_live import lines, links, nodes, switch_names

if TYPE_CHECKING:
    from pyorch.report.figures.loadmap import Cells, LoadMap, Panel, Shades

_HOVER = "%{text}<extra></extra>"


def live_maps(
    panels: Sequence[Panel], maps: Sequence[LoadMap], shades: Shades, columns: int
) -> Any:
    """Return maps of up to a few hundred links, `columns` of them side by side."""
    rows = -(-len(maps) // columns)
    figure = _grid(rows, columns, [one.title for one in maps], 3.4 * rows if columns > 1 else 4.2)
    for number, (panel, one) in enumerate(zip(panels, maps, strict=True)):
        row, column = (part + 1 for part in divmod(number, columns))
        place = {"row": row, "col": column}
        figure.add_scatter(**links(one, down=True), **place)
        figure.add_scatter(**links(one, down=False), **place)
        for step in one.lines(shades, 1e9):
            if step.egresses:
                line = {"color": step.colour, "width": max(step.egresses.values())}
                figure.add_scatter(
                    **lines(one, list(step.egresses)), mode="lines", line=line, hoverinfo="skip",
                    showlegend=False, **place,
                )  # fmt: skip
        figure.add_scatter(**nodes(one), **place)
        figure.add_scatter(**_marks(panel, one), **place)
        axis = "" if number == 0 else f"{number + 1}"
        for name in switch_names(one):
            figure.add_annotation(**name, xref=f"x{axis}", yref=f"y{axis}")
        xs, ys = zip(*one.places.values(), strict=True)
        figure.update_xaxes(visible=False, range=[min(xs) - 0.12, max(xs) + 0.12], **place)
        anchor = {"scaleanchor": f"x{axis}", "range": [min(ys) - 0.1, max(ys) + 0.1]}
        figure.update_yaxes(visible=False, **anchor, **place)
    bar = {"color": [0], "coloraxis": "coloraxis", "opacity": 0}
    figure.add_scatter(x=[None], y=[None], mode="markers", marker=bar, showlegend=False)
    return _with_colours(figure, shades).update_layout(dragmode="pan")


def live_cells(
    panels: Sequence[Panel],
    parts: Sequence[Sequence[Cells]],
    shades: Shades,
    columns: int,
) -> Any:
    """Return one cell per link, tier by tier, for every panel."""
    strips = max(map(len, parts))
    rows = -(-len(panels) // columns)
    titles = [""] * (strips * rows * columns)
    for number, (panel, part) in enumerate(zip(panels, parts, strict=True)):
        row, column = divmod(number, columns)
        for strip, one in enumerate(part):
            first = f"{panel.title}: " if panel.title else ""
            titles[(row * strips + strip) * columns + column] = f"{first}{one.what}"
    figure = _grid(strips * rows, columns, titles, 1.1 * strips * rows)
    for number, (panel, part) in enumerate(zip(panels, parts, strict=True)):
        row, column = divmod(number, columns)
        for strip, one in enumerate(part):
            figure.add_heatmap(
                z=[
                    [None if egress is None else _percent(panel, egress) for egress in line]
                    for line in one.rows
                ],
                text=[
                    ["" if egress is None else panel.name(egress) for egress in line]
                    for line in one.rows
                ],
                hovertemplate="%{text}: %{z:.3g} %<extra></extra>",
                coloraxis="coloraxis",
                row=row * strips + strip + 1,
                col=column + 1,
            )
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False, autorange="reversed")
    return _with_colours(figure, shades)


def _grid(rows: int, columns: int, titles: Sequence[str], inches: float) -> Any:
    from plotly.subplots import make_subplots

    gap = min(0.06, 0.3 / rows)
    figure = make_subplots(
        rows, columns, subplot_titles=titles, horizontal_spacing=0.03, vertical_spacing=gap
    )
    figure.update_annotations(font_size=12)
    return figure.update_layout(height=live.height(inches), **live.LAYOUT)


def _percent(panel: Panel, egress: tuple[int, int]) -> float:
    return float(f"{100 * panel.shares[egress]:.3g}")


def _marks(panel: Panel, one: LoadMap) -> dict[str, Any]:
    """The point that shows each egress on hovering, next to the middle of its line."""
    xs, ys, texts = [], [], []
    for egress in one.shares:
        (x0, y0), (x1, y1) = one.ends(egress)
        xs.append(round(0.4 * x0 + 0.6 * x1, 4))
        ys.append(round(0.4 * y0 + 0.6 * y1, 4))
        texts.append(f"{panel.name(egress)}: {_percent(panel, egress):g} %")
    return {
        "mode": "markers",
        "x": xs,
        "y": ys,
        "text": texts,
        "hovertemplate": _HOVER,
        "marker": {"size": 12, "opacity": 0},
        "showlegend": False,
    }


def _with_colours(figure: Any, shades: Shades) -> Any:
    """Give a figure the scale, in steps."""
    steps = len(shades.colours)
    scale = [
        [(number + end) / steps, colour]
        for number, colour in enumerate(shades.colours)
        for end in (0, 1)
    ]
    return figure.update_layout(
        coloraxis={
            "colorscale": scale,
            "cmin": 0,
            "cmax": 100 * shades.top,
            "colorbar": {"title": "%", "thickness": 14, "outlinewidth": 0},
        }
    )
