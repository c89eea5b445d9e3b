"""The map of the ring: what every host receives in the end, and where nothing can move any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from pyorch.report.figures import Drawn

if TYPE_CHECKING:
    from pyorch.report.data import ReportData
    from pyorch.report.figures.custom import Custom

HOSTS = range(4)
SERVICES = {"Fifo": "FIFO egress", "RoundRobin": "round robin"}
NEAR = {"1Mbps": "two hops", "10Gbps": "one and two"}
BURSTS = {"1us": "none", "200us": "0.2 ms", "1ms": "1 ms"}


DEADLOCK, STARVES = "#c0392b", "#f2b134"
STARVED = 0.1
"""Gb/s below which a host stands still, as the expectations have it."""


def ring_map(data: ReportData, figure: Custom) -> Drawn:
    """Draw the least of the hosts' late rates as coloured cells; D: deadlock, S: a host starves."""
    from matplotlib.patches import Patch, Rectangle

    runs = figure.rows_of(data).copy()
    runs["late"] = runs[[f"late_h{host}" for host in HOSTS]].min(axis=1)
    keys = ["port.queue_service", "topology.switches"]
    rows = [(near, burst) for near in NEAR for burst in BURSTS]
    variants = list(dict.fromkeys(runs["variant"]))
    sizes = sorted(set(runs["topology.switches"]))
    canvas, panels = figure.canvas(rows=len(SERVICES), columns=len(sizes), sharex=True, sharey=True)
    image = None
    for (service, size), part in runs.groupby(keys):
        axes = panels[list(SERVICES).index(str(service))][sizes.index(size)]
        cells = part.groupby(["traffic.one-hop.rate_cap", "traffic.burst.stop", "variant"])
        late, dead = cells["late"].mean() / 1e9, cells["deadlock"].max()
        grid = [[late.get((*row, variant)) for variant in variants] for row in rows]
        image = axes.imshow(grid, vmin=0, vmax=10, cmap="viridis", aspect="auto")
        for y, row in enumerate(rows):
            for x, variant in enumerate(variants):
                value = grid[y][x]
                if value is None:
                    continue
                stuck = bool(dead.get((*row, variant)))
                starves = not stuck and value < STARVED
                if stuck or starves:
                    fill = DEADLOCK if stuck else STARVES
                    axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, color=fill, linewidth=0))
                text = "D" if stuck else "S" if starves else f"{value:.1f}"
                colour = "black" if starves or (value >= 6 and not stuck) else "white"
                axes.text(x, y, text, ha="center", va="center", fontsize=6, color=colour)
        axes.set_title(f"{SERVICES[str(service)]}, {size} switches")
        axes.set_xticks(range(len(variants)), variants, rotation=90)
        axes.set_yticks(range(len(rows)), [f"{NEAR[n]}, burst {BURSTS[b]}" for n, b in rows])
        axes.grid(visible=False)
    if image is not None:
        bar = canvas.colorbar(image, ax=[axes for row in panels for axes in row], shrink=0.6)
        bar.set_label("Least rate of a host, 15 to 20 ms (Gb/s)")
    marked = {DEADLOCK: "D: deadlock", STARVES: "S: no deadlock, a host below 0.1 Gb/s"}
    canvas.legend(
        handles=[Patch(color=colour, label=label) for colour, label in marked.items()],
        loc="outside lower center",
        ncols=2,
    )
    columns = [
        *keys,
        "traffic.one-hop.rate_cap",
        "traffic.burst.stop",
        "variant",
        "late",
        "deadlock",
    ]
    table: pd.DataFrame = runs[columns]
    note = "Flows of two hops, or of one and of two; the burst goes three hops. 10 Gb/s."
    return Drawn(canvas, table, [note])
