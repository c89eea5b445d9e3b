"""A map of the network that plays on the page: one frame per moment, with a time slider.

Its buttons only have names: the page plays it (scripts.j2), one whole frame after the other.
Plotly's own animation does not draw titles and throws when it is stopped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pyorch.report.figures import live
from pyorch.report.figures.picture import NAMES, STYLES, Egress, Picture, clock_text

PLAY, PAUSE = "▶", "❚❚"
"""Names of the buttons, by which the page recognises them."""


def live_map(picture: Picture, times: Sequence[float], at: float) -> Any:
    """Return the map as a Plotly figure with a slider over times [ps], opened at one of them."""
    from plotly import graph_objects as go

    shown = min(range(len(times)), key=lambda number: abs(times[number] - at))
    figure = go.Figure()
    figure.add_scatter(**_links(picture, down=False))
    figure.add_scatter(**_links(picture, down=True))
    figure.add_scatter(**_nodes(picture))
    fixed = len(figure.data)
    figure.add_traces(_moving(picture, times[shown]))
    figure.frames = [
        go.Frame(
            name=f"{number}",
            traces=list(range(fixed, len(figure.data))),
            data=_moving(picture, time),
            layout={"title": {"text": picture.title(time)}},
        )
        for number, time in enumerate(times)
    ]
    for name in _switch_names(picture):
        figure.add_annotation(**name)
    xs, ys = zip(*picture.places.values(), strict=True)
    figure.update_xaxes(visible=False, range=[min(xs) - 0.12, max(xs) + 0.12])
    figure.update_yaxes(visible=False, range=[min(ys) - 0.1, max(ys) + 0.1], scaleanchor="x")
    figure.update_layout(height=live.height(4.6), **live.LAYOUT)
    return figure.update_layout(
        title={"text": picture.title(times[shown]), "font": {"size": 14}, "x": 0.02, "y": 0.98},
        sliders=[_slider(times, shown)],
        updatemenus=[_BUTTONS],
        legend={"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"},
        margin={"l": 10, "r": 10, "t": 120, "b": 20},
        dragmode="pan",
    )


_BUTTONS: dict[str, Any] = {
    "type": "buttons",
    "direction": "left",
    "showactive": False,
    "x": 0,
    "xanchor": "left",
    "y": 0,
    "yanchor": "top",
    "pad": {"t": 5},
    "buttons": [{"label": name, "name": name, "method": "skip"} for name in (PLAY, PAUSE)],
}


def _slider(times: Sequence[float], shown: int) -> dict[str, Any]:
    jump = {"mode": "immediate", "frame": {"duration": 0}, "transition": {"duration": 0}}
    return {
        "active": shown,
        "steps": [
            {"label": clock_text(time), "method": "animate", "args": [[f"{number}"], jump]}
            for number, time in enumerate(times)
        ],
        "x": 0,
        "len": 1,
        "y": 0,
        "pad": {"t": 20, "l": 10, "r": 10},
        "currentvalue": {"prefix": "Time ", "font": {"size": 13}, "xanchor": "right"},
        "font": {"size": 10},
    }


def _links(picture: Picture, *, down: bool) -> dict[str, Any]:
    """Both directions of every link that is up, or of every one that is down."""
    network = picture.network
    failed = set(network.failed_links)
    shown = [port for port, link in network.links.items() if (link in failed) == down]
    forth = shown[: len(shown) // 2]
    egresses = [one for port in forth for one in (port, network.reverse(port))][:: 1 + down]
    return {
        **_lines(picture, egresses),
        "mode": "lines",
        "line": {"color": "#bbb" if down else "#d1d1d1", "dash": "dot" if down else "solid"}
        | {"width": 1},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _lines(picture: Picture, egresses: Sequence[Egress]) -> dict[str, Any]:
    """A separate line from the beginning to the end of each egress."""
    xs: list[float | None] = []
    ys: list[float | None] = []
    texts: list[str] = []
    names = picture.network.end_names
    for egress in egresses:
        (x0, y0), (x1, y1) = picture.ends(egress)
        xs += [*_places((x0, x1)), None]
        ys += [*_places((y0, y1)), None]
        texts += [f"{names[egress[0]]} → {names[egress[1]]}"] * 2 + [""]
    # an empty trace would lose its place in the legend
    return {"x": xs or [None], "y": ys or [None], "text": texts}


def _places(values: Sequence[float]) -> list[Any]:
    return [round(value, 4) for value in values]


def _moving(picture: Picture, time: float) -> list[Any]:
    """What changes with time: egresses by state, and the causal chain so far."""
    from plotly import graph_objects as go

    found = picture.state(time)
    traces = []
    for state in NAMES if picture.episode else ("paused",):
        colour, width, dashes = STYLES[state]
        mine = sorted(egress for egress, what in found.items() if what == state)
        line = {"color": colour, "width": 1.6 * width, "dash": "solid" if dashes == "-" else "dot"}
        arrow = {"symbol": "arrow", "angleref": "previous", "opacity": 1}
        traces.append(
            go.Scatter(
                **_lines(picture, mine),
                mode="lines+markers",
                name=NAMES[state],
                hovertemplate=f"%{{text}}: {NAMES[state]}<extra></extra>",
                line=line,
                marker=arrow | {"size": [0, 11, 0] * len(mine) or [0]},
            )
        )
    return [*traces, _chain(picture, time)] if picture.episode else traces


def _chain(picture: Picture, time: float) -> Any:
    """The numbers of the causal chain's pauses, each near its sender."""
    from plotly import graph_objects as go

    xs, ys, texts, stars = [], [], [], []
    for egress, numbers in picture.chain_at(time).items():
        (x0, y0), (x1, y1) = picture.ends(egress)
        few = numbers if len(numbers) < 4 else [*numbers[:2], numbers[-1]]
        xs.append((x0 + 3 * x1) / 4)
        ys.append((y0 + 3 * y1) / 4)
        texts.append(",".join(map(str, few)))
        stars.append(1 in numbers)
    return go.Scatter(
        mode="markers+text",
        name="causal chain (star: initial trigger)",
        x=_places(xs) or [None],
        y=_places(ys) or [None],
        text=texts,
        textfont={"color": "#fff", "size": 10, "weight": "bold"},
        marker={
            "symbol": ["star" if star else "square" for star in stars] or ["square"],
            "size": [26 if s else 10 + 6 * len(t) for s, t in zip(stars, texts, strict=True)],
            "color": "#0173b2",
            "opacity": 1,
            "line": {"color": "#fff", "width": 1},
        },
        hoverinfo="skip",
    )


def _switch_names(picture: Picture) -> Iterator[dict[str, Any]]:
    """The names of switches, as annotations."""
    hosts = set(picture.network.hosts.tolist())
    for switch in sorted(picture.places.keys() - hosts):
        x, y = picture.places[switch]
        yield {
            "text": picture.network.names[switch],
            "x": x,
            "y": y,
            "showarrow": False,
            "font_size": 11,
            "bgcolor": "#fff",
            "bordercolor": "#444",
            "borderpad": 4,
        }


def _nodes(picture: Picture) -> dict[str, Any]:
    """Hosts as dots, with their names if they are few."""
    network = picture.network
    hosts = sorted(network.hosts.tolist())
    return {
        "mode": "markers" if len(hosts) > 16 else "markers+text",
        "x": _places([picture.places[node][0] for node in hosts]),
        "y": _places([picture.places[node][1] for node in hosts]),
        "text": [network.names[node] for node in hosts],
        "hovertemplate": "%{text}<extra></extra>",
        "textposition": "bottom center",
        "textfont": {"size": 11},
        "marker": {"size": 6, "color": "#999"},
        "showlegend": False,
    }
