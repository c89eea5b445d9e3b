"""A map of the network that plays on the page: one frame a moment, with a time slider.

Its buttons only have names: the page plays it (scripts.j2), one whole frame after the other. What
Plotly has for that draws no titles, and throws when it is stopped.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyorch.report.figures import live
from pyorch.report.figures.picture import NAMES, STYLES, Egress, Picture, clock_text

PLAY, PAUSE = "▶", "❚❚"
"""Names of the buttons, by which the page knows them."""


def live_map(picture: Picture, times: Sequence[float], at: float) -> live.Spec:
    """Return the map for Plotly, with a slider over times [ps]; it opens at one of them."""
    shown = min(range(len(times)), key=lambda number: abs(times[number] - at))
    states = ("paused", "cycle", "stuck") if picture.episode else ("paused",)
    fixed = [_links(picture, down=False), _links(picture, down=True), _nodes(picture)]
    numbers = list(range(len(fixed), len(fixed) + len(states) + bool(picture.episode)))
    frames = [
        {
            "name": f"{number}",
            "traces": numbers,
            "data": _moving(picture, time, states),
            "layout": {"title": {"text": picture.title(time)}},
        }
        for number, time in enumerate(times)
    ]
    moving = _moving(picture, times[shown], states)
    return {
        "data": [*fixed, *moving],
        "layout": _layout(picture, times, shown),
        "frames": frames,
    }


def _layout(picture: Picture, times: Sequence[float], shown: int) -> live.Spec:
    xs, ys = zip(*picture.places.values(), strict=True)
    hidden = {"visible": False, "fixedrange": False}
    jump = {"mode": "immediate", "frame": {"duration": 0}, "transition": {"duration": 0}}
    steps = [
        {"label": clock_text(time), "method": "animate", "args": [[f"{number}"], jump]}
        for number, time in enumerate(times)
    ]
    slider = {
        "active": shown,
        "steps": steps,
        "x": 0,
        "len": 1,
        "y": 0,
        "pad": {"t": 20, "l": 10, "r": 10},
        "currentvalue": {
            "prefix": "Time ",
            "font": {"size": 13},
            "xanchor": "right",
        },
        "font": {"size": 10},
    }
    buttons = {
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
    return live.layout(
        4.6,
        title={"text": picture.title(times[shown]), "font": {"size": 14}, "x": 0.02, "y": 0.98},
        xaxis={**hidden, "range": [min(xs) - 0.12, max(xs) + 0.12]},
        yaxis={**hidden, "range": [min(ys) - 0.1, max(ys) + 0.1], "scaleanchor": "x"},
        sliders=[slider],
        updatemenus=[buttons],
        annotations=[_name(picture, node) for node in _switches(picture)],
        legend={"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"},
        margin={"l": 10, "r": 10, "t": 120, "b": 20},
        dragmode="pan",
    )


def _links(picture: Picture, *, down: bool) -> live.Spec:
    """Every direction of every link that is up, or that is down."""
    network = picture.network
    ends = zip(network.a.tolist(), network.b.tolist(), strict=True)
    failed = set(network.failed_links)
    links = [link for number, link in enumerate(ends) if (number in failed) == down]
    egresses = [egress for a, b in links for egress in ((a, b), (b, a))][:: 2 if down else 1]
    return {
        **_lines(picture, egresses),
        "mode": "lines",
        "line": {"color": "#bbb" if down else "#d1d1d1", "dash": "dot" if down else "solid"}
        | {"width": 1},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _lines(picture: Picture, egresses: Sequence[Egress]) -> live.Spec:
    """Lines from the beginning to the end of each egress, apart from each other."""
    xs: list[float | None] = []
    ys: list[float | None] = []
    texts: list[str] = []
    names = picture.network.names
    for egress in egresses:
        (x0, y0), (x1, y1) = picture.ends(egress)
        xs += [*live.numbers((x0, x1), 4), None]
        ys += [*live.numbers((y0, y1), 4), None]
        texts += [f"{names[egress[0]]} → {names[egress[1]]}"] * 2 + [""]
    # an empty trace would lose its place in the legend
    return {"type": "scatter", "x": xs or [None], "y": ys or [None], "text": texts}


def _moving(picture: Picture, time: float, states: Sequence[str]) -> list[live.Spec]:
    """What changes with time: egresses by state, and the causal chain so far."""
    found = picture.state(time)
    traces = []
    for state in states:
        colour, width, dashes = STYLES[state]
        mine = sorted(egress for egress, what in found.items() if what == state)
        traces.append(
            {
                **_lines(picture, mine),
                "mode": "lines+markers",
                "name": NAMES[state],
                "hovertemplate": f"%{{text}}: {NAMES[state]}<extra></extra>",
                "line": {
                    "color": colour,
                    "width": 1.6 * width,
                    "dash": "solid" if dashes == "-" else "dot",
                },
                "marker": {
                    "symbol": "arrow",
                    "angleref": "previous",
                    "size": [0, 11, 0] * len(mine) or [0],
                    "opacity": 1,
                },
            }
        )
    return [*traces, _chain(picture, time)] if picture.episode else traces


def _chain(picture: Picture, time: float) -> live.Spec:
    """The numbers of the causal chain's pauses, each near who sent it."""
    xs, ys, texts, stars = [], [], [], []
    for egress, numbers in picture.chain_at(time).items():
        (x0, y0), (x1, y1) = picture.ends(egress)
        few = numbers if len(numbers) < 4 else [*numbers[:2], numbers[-1]]
        xs.append((x0 + 3 * x1) / 4)
        ys.append((y0 + 3 * y1) / 4)
        texts.append(",".join(map(str, few)))
        stars.append(1 in numbers)
    return {
        "type": "scatter",
        "mode": "markers+text",
        "name": "causal chain (star: initial trigger)",
        "x": live.numbers(xs, 4) or [None],
        "y": live.numbers(ys, 4) or [None],
        "text": texts,
        "textfont": {"color": "#fff", "size": 10, "weight": "bold"},
        "marker": {
            "symbol": ["star" if star else "square" for star in stars] or ["square"],
            "size": [26 if s else 10 + 6 * len(t) for s, t in zip(stars, texts, strict=True)],
            "color": "#0173b2",
            "opacity": 1,
            "line": {"color": "#fff", "width": 1},
        },
        "hoverinfo": "skip",
    }


def _switches(picture: Picture) -> list[int]:
    hosts = set(picture.network.hosts.tolist())
    return sorted(node for node in picture.places if node not in hosts)


def _name(picture: Picture, switch: int) -> live.Spec:
    """The name of a switch in its box."""
    x, y = live.numbers(picture.places[switch], 4)
    return {
        "text": picture.network.names[switch],
        "x": x,
        "y": y,
        "showarrow": False,
        "font": {"size": 11},
        "bgcolor": "#fff",
        "bordercolor": "#444",
        "borderpad": 4,
    }


def _nodes(picture: Picture) -> live.Spec:
    """Hosts as dots, with their names while they are few."""
    network = picture.network
    hosts = sorted(network.hosts.tolist())
    return {
        "type": "scatter",
        "mode": "markers" if len(hosts) > 16 else "markers+text",
        "x": live.numbers((picture.places[node][0] for node in hosts), 4),
        "y": live.numbers((picture.places[node][1] for node in hosts), 4),
        "text": [network.names[node] for node in hosts],
        "hovertemplate": "%{text}<extra></extra>",
        "textposition": "bottom center",
        "textfont": {"size": 11},
        "marker": {"size": 6, "color": "#999"},
        "showlegend": False,
    }
