"""Figures, and the report as a whole, over a small synthetic store."""

from __future__ import annotations

import contextlib
import copy
import json
import math
import re
import runpy
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from pydantic import ValidationError

from pyorch import metrics
from pyorch.base.paths import Paths
from pyorch.metrics import RunTables, compute, parse
from pyorch.plan import RunSpec
from pyorch.report import write as writing
from pyorch.report.consistency import check_entries
from pyorch.report.data import ReportData
from pyorch.report.figures import MODELS, Drawn, FigureError
from pyorch.report.figures.base import short_number
from pyorch.report.figures.flows import cumulative
from pyorch.report.figures.network import busiest, moments
from pyorch.report.figures.parameters import LineFigure
from pyorch.report.figures.pausetree import grow
from pyorch.report.figures.timeseries import Row, thin
from pyorch.report.layout import layout
from pyorch.report.setting import setting
from pyorch.report.style import is_legible, lay_out, paper_style
from pyorch.report.write import write_report
from pyorch.setting.attributes import catalogue
from tests.forms import network_of, run_of
from tests.strategies import SCHEMA

US = 10**6
NODES = ["s0", "h0", "h1", "h2"]
METRICS = [
    {
        "name": "queue_mean",
        "kind": "time_mean",
        "port": "s0:h0",
        "class": 3,
        "from": "400us",
    }
]


@dataclass
class FakeStore:
    """A store in memory: tables and summaries by run hash."""

    tables: dict[str, dict[str, pd.DataFrame]] = field(default_factory=dict)
    summaries: dict[str, dict[str, Any]] = field(default_factory=dict)
    logs: dict[str, Path] = field(default_factory=dict)
    paths: Paths = field(default_factory=lambda: Paths(Path(__file__).resolve().parents[2]))

    def log_lines(self, run_hash: str) -> list[str]:
        """Where a run was made."""
        assert run_hash in self.summaries
        return ["# host: here (x86_64), pid 7", "# versions: Python 3", "# started: now"]

    def failure(self, run_hash: str) -> Any:
        """The log of a failed attempt."""
        return SimpleNamespace(log=self.logs.get(run_hash, Path("absent")))

    def read_summary(self, run_hash: str) -> dict[str, Any]:
        """summary.json."""
        return self.summaries[run_hash]

    def read_table(self, run_hash: str, name: str) -> pd.DataFrame:
        """A table. Raises FileNotFoundError when it was not traced."""
        try:
            return self.tables[run_hash][name]
        except KeyError:
            raise FileNotFoundError(name) from None

    def collect(self, specs: Sequence[RunSpec], fingerprint: str) -> pd.DataFrame:
        """One row a finished run."""
        rows = []
        for spec in specs:
            key = spec.hash(fingerprint)
            if key in self.summaries:
                summary = self.summaries[key]
                run = RunTables(
                    spec.setting, spec.seed, NODES, summary["summary"], self.tables[key]
                )
                values = compute(spec.metrics, run)
                own = {"hash": key, "seed": spec.seed, "variant": ""}
                rows.append({**own, **spec.params, **summary["summary"], **values})
        return pd.DataFrame(rows)


def queue_table(variant: str, rng: np.random.Generator) -> pd.DataFrame:
    """PFC: a saw-tooth between 61 and 96 KB; GFC: one overshoot, then 75 KB."""
    time = np.arange(1, 2001) * US
    if variant == "PFC":
        phase = (np.arange(2000) % 110) / 55
        level = np.where(phase < 1, 61.4 + 34.2 * phase, 95.6 - 34.2 * (phase - 1))
    else:
        level = 75 - 75 * np.exp(-np.arange(2000) / 40) * np.cos(np.arange(2000) / 60)
    level = np.clip(level + rng.normal(0, 0.3, 2000), 0, None)
    ends = {"node": 0, "peer": 1, "class": 3}
    return pd.DataFrame({"time_ps": time, **ends, "bytes": (level * 1000).astype(np.int64)})


def rate_table(variant: str) -> pd.DataFrame:
    """PFC: on and off; GFC: settles at 5 Gb/s. Intervals of 5 us."""
    time = np.arange(1, 401) * 5 * US
    steps = np.arange(400)
    gbps = np.where(steps % 22 < 11, 10.0, 0.0)
    if variant != "PFC":
        gbps = np.where(steps < 20, 10.0, 5 - np.exp(-steps / 30) * np.cos(steps / 8))
    count = (gbps * 1e9 * 5e-6 / 8).astype(np.int64)
    ends = {"node": 0, "peer": 1, "class": 3}
    return pd.DataFrame({"time_ps": time, **ends, "rx_bytes": count, "tx_bytes": 0})


def pause_table(variant: str) -> pd.DataFrame:
    """PFC: h0 and h1 paused 55 of 110 us; GFC: never."""
    starts = np.arange(0, 2000, 110) * US + 55 * US if variant == "PFC" else np.array([], int)
    parts = [
        pd.DataFrame(
            {
                "start_ps": starts + shift * US,
                "end_ps": starts + (55 + shift) * US,
                "node": host,
                "peer": 0,
                "class": 3,
                "side": 1,
            }
        )
        for host, shift in ((1, 0), (2, 12))
    ]
    return pd.concat(parts, ignore_index=True)


def deadlock_tables() -> dict[str, pd.DataFrame]:
    """A deadlock between s0 and h0, with numbers as the topology has them (h0, h1, h2, s0)."""
    columns = ["episode", "part", "order", "node", "peer", "class", "time_ps"]
    parts = [
        (0, 0, 0, 3, 0, 3, 400 * US),
        (0, 0, 1, 0, 3, 3, 450 * US),
        (0, 1, 0, 3, 0, 3, -1),
        (0, 1, 1, 0, 3, 3, -1),
        (0, 1, 2, 1, 3, 3, -1),
        (0, 2, 0, 0, 3, 3, 400 * US),
        (0, 2, 1, 3, 0, 3, 450 * US),
    ]
    episodes = {"episode": [0], "kind": [0], "formed_ps": [500 * US], "dissolved_ps": [-1]}
    return {
        "deadlock": pd.DataFrame(episodes),
        "deadlock_part": pd.DataFrame(parts, columns=columns),
    }


def pause_tree_table() -> pd.DataFrame:
    """s0 -> h0 is congested: h1 and h2 are paused; and h2 pauses s0, which pauses h1."""
    columns = ["start_ps", "end_ps", "node", "peer", "class", "cause_peer"]
    rows = [
        (100 * US, 150 * US, 2, 0, 3, 1, 0, 0, 1),
        (100 * US, 120 * US, 3, 0, 3, 1, 0, 0, 1),
        (300 * US, 400 * US, 0, 3, 3, -1, 0, 3, -1),
        (310 * US, 400 * US, 2, 0, 3, 3, 1, 3, -1),
    ]
    return pd.DataFrame(rows, columns=[*columns, "depth", "root_node", "root_peer"])


def flow_link_table() -> pd.DataFrame:
    """h0 and h1 send to h2: a third and two thirds of its link, in the first half of the run."""
    columns = ["first_ps", "last_ps", "node", "peer", "class", "flow", "bytes"]
    third = 416_666  # of 1.25 MB in 1 ms
    rows = [
        (0, 1000 * US, 0, 3, 3, 0, third),
        (0, 1000 * US, 1, 3, 3, 1, 2 * third),
        (0, 1000 * US, 3, 2, 3, 0, third),
        (0, 1000 * US, 3, 2, 3, 1, 2 * third),
    ]
    return pd.DataFrame(rows, columns=columns)


def flow_table(load: float, variant: str, rng: np.random.Generator) -> pd.DataFrame:
    """3,000 flows whose slowdown grows with load; a few of the last do not finish under PFC."""
    n = 3000
    size = np.exp(rng.uniform(np.log(1e3), np.log(2e7), n)).astype(np.int64)
    start = np.sort(rng.integers(0, 1900 * US, n))
    ideal = (size * 800 + 5 * US).astype(np.int64)
    spread = load * (2.5 if variant == "PFC" else 1.5)
    finish = start + (ideal * (1 + rng.exponential(spread, n))).astype(np.int64)
    if variant == "PFC" and load > 0.7:
        finish[-20:] = -1
    columns = {"flow": np.arange(n), "src": 1, "dst": 3, "class": 3, "size_bytes": size}
    times = {"start_ps": start, "finish_ps": finish, "ideal_ps": ideal}
    return pd.DataFrame({**columns, **times, "delivered_bytes": size})


def make_spec(variant: str, seed: int, **params: Any) -> RunSpec:
    """The RunSpec of a run of the synthetic study."""
    names = {"queue": 0, "rate": 5 * US, "pause": 0, "flow_link": 0}
    traces = [{"table": t, "ports": [], "classes": [], "period_ps": p} for t, p in names.items()]
    data = {
        "schema": 1,
        "experiment": "gfc/fake",
        "seed": seed,
        "run": {"duration_ps": 2000 * US, "warmup_ps": 0, "drain_ps": 0, "allow_loss": False},
        "topology": {"kind": "star", "hosts": 3, "rate_bps": 10**10, "delay_ps": US},
        "attributes": {
            "ns3::lossless::Port": {"ControlDelay": "22000000ps", "Overhead": "20"},
            "ns3::lossless::SharedBuffer": {"Xoff": "80000", "LosslessClasses": "8"},
            "ns3::later::NeverSeenBefore": {"Cap": "10000000000bps"},
        },
        "flow_control": [f"ns3::{variant.lower()}"],
        "traffic": [{"kind": "greedy", "src": ["h0", "h1"], "dst": ["h2"]}],
        "traces": traces,
        "metrics": METRICS,
        "params": {"variant": variant, **params},
    }
    return run_of(data)


def add_run(store: FakeStore, spec: RunSpec, fingerprint: str) -> None:
    """Put a finished run of the synthetic study into the store."""
    variant, seed = spec.params["variant"], spec.seed
    load = float(spec.params.get("load", 0.5))
    rng = np.random.default_rng([seed, zlib.crc32(variant.encode()), int(load * 10)])
    key = spec.hash(fingerprint)
    queue = queue_table(variant, rng)
    store.tables[key] = {
        "queue": queue,
        "rate": rate_table(variant),
        "pause": pause_table(variant),
        "flow": flow_table(load, variant, rng),
        **deadlock_tables(),
        "pause_tree": pause_tree_table(),
        "flow_link": flow_link_table(),
    }
    summary = {
        "end_ps": 2000 * US,
        "peak_queue_bytes": int(queue["bytes"].max() * (1 + load / 10)),
        "pauses_sent": 40 * load if variant == "PFC" else 0,
    }
    warnings = ["Bm - B0 is below 4*C*tau"] if variant == "GFC" else []
    content = {"nodes": NODES, "summary": summary, "problems": [], "warnings": warnings}
    store.summaries[key] = content


def make_store(specs: Sequence[RunSpec], fingerprint: str = "") -> FakeStore:
    """A store in which all specs are done."""
    store = FakeStore()
    for spec in specs:
        add_run(store, spec, fingerprint)
    return store


def study(seeds: int = 1) -> list[RunSpec]:
    """PFC and GFC."""
    return [make_spec(v, s) for v in ("PFC", "GFC") for s in range(1, seeds + 1)]


def sweep(seeds: int = 3) -> list[RunSpec]:
    """PFC and GFC at three loads and three response times."""
    return [
        make_spec(v, s, load=load, response=response)
        for v in ("PFC", "GFC")
        for load in (0.3, 0.5, 0.8)
        for response in ("1us", "5us", "10us")
        for s in range(1, seeds + 1)
    ]


def draw(entry: Mapping[str, Any], specs: Sequence[RunSpec], **options: Any) -> Drawn:
    """Draw one figure over a store in which all specs are done."""
    store = make_store(specs)
    planned = {spec.hash(""): spec for spec in specs}
    data = ReportData(store, store.collect(specs, ""), planned, **options)
    with paper_style():
        drawn = MODELS[entry["kind"]].model_validate(dict(entry)).draw(data)
        drawn.canvas.draw_without_rendering()
        return drawn


TIMESERIES = {
    "name": "queue-and-rate",
    "kind": "timeseries",
    "title": "Two senders, one receiver",
    "columns": "variant",
    "until": "800us",
    "rows": [
        {
            "table": "queue",
            "port": "s0:h0",
            "class": 3,
            "label": "Ingress queue",
            "unit": "KB",
            "marks": [
                {"value": "80KB", "label": "XOFF", "where": {"variant": "PFC"}},
                {"value": "77KB", "label": "XON", "where": {"variant": "PFC"}},
                {"value": "75KB", "label": "Bs", "where": {"variant": "GFC"}},
            ],
        },
        {"table": "rate", "port": "s0:h0", "class": 3, "label": "Input rate", "unit": "Gbps"},
        {"table": "pause", "port": ["h0:s0", "h1:s0"], "class": 3, "side": "paused"},
    ],
}
ONE_RESPONSE = {"response": "1us"}
FIGURES: dict[str, dict[str, Any]] = {
    "timeseries": TIMESERIES,
    "line": {
        "name": "peak",
        "kind": "line",
        "x": "response",
        "y": "peak_queue_bytes",
        "hue": "variant",
        "columns": "load",
        "y_label": "Peak queue",
        "marks": [{"value": "100KB", "label": "Bm"}],
    },
    "line-one": {
        "name": "peak-one",
        "kind": "line",
        "x": "load",
        "y": "queue_mean",
        "hue": "variant",
        "where": ONE_RESPONSE,
        "width": "one",
    },
    "bars": {
        "name": "bars",
        "kind": "bars",
        "x": "load",
        "y": "pauses_sent",
        "hue": "variant",
        "where": ONE_RESPONSE,
        "width": "one",
    },
    "variants": {
        "name": "variants",
        "kind": "variants",
        "metrics": ["pauses_sent", "peak_queue_bytes"],
        "where": ONE_RESPONSE | {"load": 0.5},
    },
    "heatmap": {
        "name": "heat",
        "kind": "heatmap",
        "x": "load",
        "y": "response",
        "value": "peak_queue_bytes",
        "columns": "variant",
        "width": "one",
    },
    "cdf": {
        "name": "cdf",
        "kind": "cdf",
        "columns": "load",
        "where": ONE_RESPONSE,
    },
    "slowdown": {
        "name": "slowdown",
        "kind": "slowdown",
        "columns": "load",
        "where": ONE_RESPONSE,
    },
    "deadlock_map": {
        "name": "map",
        "kind": "deadlock_map",
        "title": "A deadlock",
        "where": {"variant": "PFC", "load": 0.3, "response": "1us"},
        "frames": 8,
    },
    "pause_map": {
        "name": "pause-map",
        "kind": "pause_map",
        "where": {"variant": "PFC", "load": 0.3, "response": "1us"},
    },
    "pause_tree": {
        "name": "tree",
        "kind": "pause_tree",
        "title": "Who paused whom",
        "where": {"variant": "PFC", "load": 0.3, "response": "1us"},
    },
    "link_load": {
        "name": "load",
        "kind": "link_load",
        "title": "What links carried",
        "columns": "variant",
        "where": {"load": 0.3, "response": "1us"},
    },
    "rank_timeline": {
        "name": "ranks",
        "kind": "rank_timeline",
        "where": {"variant": "PFC", "load": 0.3, "response": "1us"},
    },
}


FIGURE_MODEL = MODELS["line"].model_validate({**FIGURES["line"], "width": "one"})
LIVE = ("timeseries", "pause_map", "deadlock_map")


@pytest.mark.parametrize("name", sorted(FIGURES))
@pytest.mark.drawing
def test_every_kind_draws(name: str) -> None:
    """Each kind draws, and its data hold what it shows."""
    specs = study() if name == "timeseries" else sweep(2)
    drawn = draw(FIGURES[name], specs)
    assert len(drawn.data) > 0
    assert all(axes.has_data() for axes in drawn.canvas.axes)


def test_every_kind_is_tried_here() -> None:
    """A new kind of figure needs an example in this file."""
    elsewhere = {"custom", "lost"}  # of a real job: tests/jobs/test_lost_time.py
    assert {entry["kind"] for entry in FIGURES.values()} | elsewhere == set(MODELS)


@pytest.mark.drawing
@pytest.mark.parametrize("width", ["one", "two"])
@pytest.mark.parametrize("name", sorted(FIGURES))
def test_no_text_overlaps_or_leaves_the_figure(name: str, width: str) -> None:
    """Labels, ticks and titles are inside the canvas, and tick labels of an axis are apart."""
    entry = {**FIGURES[name], "width": width}
    drawn = draw(entry, study() if name == "timeseries" else sweep(2))
    canvas = drawn.canvas
    renderer = canvas.canvas.get_renderer()
    width, height = canvas.bbox.width, canvas.bbox.height
    for axes in canvas.axes:
        texts = [axes.title, axes.xaxis.label, axes.yaxis.label, *axes.texts]
        boxes = [t.get_window_extent(renderer) for t in texts if t.get_text()]
        assert all(b.x0 >= -1 and b.x1 <= width + 1 for b in boxes)
        assert all(b.y0 >= -1 and b.y1 <= height + 1 for b in boxes)
        if axes.xaxis.get_tick_params().get("labelrotation"):
            continue
        shown = [t for t in axes.get_xticklabels() if t.get_text() and t.get_visible()]
        ticks = [t for t in shown if not t.get_rotation()]
        spans = sorted((e.x0, e.x1) for e in (t.get_window_extent(renderer) for t in ticks))
        assert all(a[1] <= b[0] for a, b in pairwise(spans))


@pytest.mark.parametrize(("words", "legible"), [(["a", "b"], True), (["a" * 30, "b" * 30], False)])
def test_texts_that_cover_each_other_are_found(words: list[str], legible: bool) -> None:
    """Tick labels side by side are fine, long ones are not; nor is a legend that sticks out."""
    with paper_style():
        canvas, panels = FIGURE_MODEL.canvas(1, 2)
        panels[0][0].bar(words, [1, 2], label="bars")
        assert is_legible(canvas) == legible
        panels[0][0].legend(title="a title that is wider than its panel is, and by far at that")
        assert not is_legible(canvas)


@pytest.mark.parametrize(
    ("levels", "panel", "corner"),
    [
        ([[9, 1, 1], [1, 1, 1]], 0, "right"),  # high at the beginning only
        ([[1, 1, 9], [1, 1, 1]], 0, "left"),
        ([[9, 9, 9], [1, 1, 9]], 1, "left"),
        ([[9, 9, 9], [9, 1, 9]], 0, "left"),  # nowhere: room is made above
    ],
)
def test_a_legend_covers_no_line(levels: list[list[int]], panel: int, corner: str) -> None:
    """It is in a corner without lines, or the axis grows; checked in the picture's pixels."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    from pyorch.report.figures.timeseries import _add_legend

    with paper_style():
        canvas, panels = FIGURE_MODEL.canvas(1, 2, sharey="row")
        for axes, values in zip(panels[0], levels, strict=True):
            for shift in (0, 1):
                shifted = [value - 0.5 * shift for value in values]
                axes.plot(
                    [0, 1, 2, 3], [*shifted, shifted[-1]], drawstyle="steps-post", label=f"h{shift}"
                )
            axes.set_xlim(0, 3)
        panels[0][0].set_ylim(0, 10)
        _add_legend(list(panels[0]), 2)
        canvas.draw(FigureCanvasAgg(canvas).get_renderer())
        legends = [axes.get_legend() for axes in panels[0]]
        assert [legend is not None for legend in legends] == [panel == 0, panel == 1]
        box, axes = legends[panel].get_window_extent(), panels[0][panel]
        middle = (axes.bbox.x0 + axes.bbox.x1) / 2
        assert ((box.x0 + box.x1) / 2 < middle) == (corner == "left")
        for line in axes.get_lines():
            x, y = line.get_xdata(), line.get_ydata()
            for at in np.linspace(0, 2.999, 300):
                point = axes.transData.transform((at, y[int(np.searchsorted(x, at, "right")) - 1]))
                assert not box.contains(*point)


@pytest.mark.drawing
def test_a_figure_is_laid_out_once_a_width_and_drawn_once_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PDF and PNG at two widths; once more nothing is painted, to see whether texts are legible."""
    calls: list[str] = []

    def counted(owner: Any, name: str) -> None:
        does = getattr(owner, name)

        def count(*given: Any, **more: Any) -> Any:
            calls.append(name)
            return does(*given, **more)

        monkeypatch.setattr(owner, name, count)

    counted(Figure, "draw")
    counted(ConstrainedLayoutEngine, "execute")
    specs = study()
    write_report(experiment([TIMESERIES]), make_store(specs), specs, tmp_path)
    assert [path.name for path in tmp_path.glob("*.p[dn]*")] == ["queue-and-rate.png"]
    assert (calls.count("draw"), calls.count("execute")) == (1, 1)
    calls.clear()
    write_report(experiment([TIMESERIES]), make_store(specs), specs, tmp_path, paper=True)
    assert len(list(tmp_path.glob("*.pdf"))) == len(list(tmp_path.glob("*.png"))) == 2
    assert (calls.count("draw"), calls.count("execute")) == (5, 2)


@pytest.mark.drawing
def test_titles_side_by_side_need_a_gap() -> None:
    """Two titles that just do not touch read as one."""
    with paper_style():
        canvas, panels = FIGURE_MODEL.canvas(1, 2)
        found = []
        for letters in range(8, 60):
            panels[0][0].set_title("n" * letters)
            panels[0][1].set_title("n" * letters)
            found.append(is_legible(canvas))
        # the first that are told to be too near have still white between them
        panels[0][0].set_title("n" * (8 + found.index(False)))
        panels[0][1].set_title("n" * (8 + found.index(False)))
        canvas.draw_without_rendering()
        boxes = [axes.title.get_window_extent() for axes in panels[0]]
        assert found[0]
        assert boxes[0].x1 < boxes[1].x0
        assert found == sorted(found, reverse=True)


@pytest.mark.drawing
@pytest.mark.parametrize("kind", ["line", "bars"])
def test_a_panel_may_lack_a_line(kind: str) -> None:
    """Where the runs of a variant are missing the other is drawn, and the legend has both."""
    specs = [s for s in sweep(2) if (s.params["variant"], s.params["load"]) != ("PFC", 0.3)]
    names = {"x": "response", "y": "peak_queue_bytes", "hue": "variant", "columns": "load"}
    drawn = draw({"name": "gap", "kind": kind, **names}, specs)
    (legend,) = drawn.canvas.legends
    assert {text.get_text() for text in legend.get_texts()} == {"PFC", "GFC"}
    shown = [axes.get_legend_handles_labels()[1] for axes in drawn.canvas.axes]
    assert [sorted(labels) for labels in shown] == [["GFC", "PFC"], ["GFC", "PFC"], ["GFC"]]


@pytest.mark.drawing
@pytest.mark.parametrize("name", ["line", "bars", "cdf", "slowdown", "timeseries"])
def test_what_colour_tells_apart_grey_print_does_too(name: str) -> None:
    """No two lines of a panel have the same dashes and marker, no two groups of bars one hatch."""
    more = {"rows": [{**TIMESERIES["rows"][0], "port": ["s0:h0", "s0:h1"]}]}
    entry = FIGURES[name] | (more if name == "timeseries" else {})
    drawn = draw(entry, study() if name == "timeseries" else sweep(2))
    seen = 0
    for axes in drawn.canvas.axes:
        lines = [
            line
            for line in (() if axes.containers else axes.lines)  # those of bars are whiskers
            if len(line.get_xdata()) > 2 or not str(line.get_label()).startswith("_")
        ]
        styles = [
            (line.get_linestyle(), str(line._dash_pattern), line.get_marker()) for line in lines
        ]
        hatches = [bars.patches[0].get_hatch() for bars in axes.containers if bars.patches]
        assert len(set(styles)) == len(styles)
        assert len(set(hatches)) == len(hatches)
        seen = max(seen, len(styles), len(hatches))
    assert seen > 1


@pytest.mark.drawing
def test_the_colours_of_a_heatmap_are_ordered_in_grey() -> None:
    """Its colour map gets lighter, or darker, all the way."""
    drawn = draw(FIGURES["heatmap"], sweep(2))
    (mesh,) = (m for axes in drawn.canvas.axes[:1] for m in (*axes.collections, *axes.images))
    colours = mesh.get_cmap()(np.linspace(0, 1, 50))[:, :3]
    change = np.diff(colours @ [0.2126, 0.7152, 0.0722])
    assert (change > 0).all() or (change < 0).all()


@pytest.mark.parametrize(("value", "limits"), [(0.0, (0, 1)), (5.0, (0, 5))])
@pytest.mark.drawing
def test_a_heatmap_of_equal_values_has_colours_from_0(
    value: float, limits: tuple[float, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A share that is 0 everywhere has no bar of colours that goes below 0."""
    even = ReportData.estimate

    def same(self: ReportData, metric: str, runs: pd.DataFrame) -> Any:
        return replace(even(self, metric, runs), mean=value)

    monkeypatch.setattr(ReportData, "estimate", same)
    drawn = draw(FIGURES["heatmap"], sweep(1))
    (mesh, *_) = (m for axes in drawn.canvas.axes for m in axes.collections)
    assert mesh.get_clim() == limits


def test_a_heatmap_says_where_flows_did_not_finish(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such a cell has no colour; without a sign it would look as if it had not been run."""
    found = pd.DataFrame(
        {
            "panel": None,
            "line": ["1us", "1us", "5us"],
            "x": [0.3, 0.5, 0.5],
            "mean": [1, 2, math.inf],
        }
    )
    monkeypatch.setattr(LineFigure, "estimates", lambda *_: (found, []))
    drawn = draw({**FIGURES["heatmap"], "columns": None, "where": {"variant": "PFC"}}, sweep(1))
    axes = drawn.canvas.axes[0]
    assert [text.get_position() for text in axes.texts if text.get_text() == "∞"] == [(1.5, 1.5)]


@pytest.mark.drawing
def test_line_shows_mean_and_interval_over_seeds() -> None:
    """Means in the data behind a figure equal those of pandas."""
    specs = sweep(3)
    drawn = draw(FIGURES["line"], specs)
    store = make_store(specs)
    runs = store.collect(specs, "")
    chosen = runs[(runs.variant == "PFC") & (runs.load == 0.5) & (runs.response == "5us")]
    part = drawn.data[(drawn.data["panel"] == 0.5) & (drawn.data["x"] == "5us")]
    row = part[part["line"] == "PFC"].iloc[0]
    assert row["mean"] == pytest.approx(chosen["peak_queue_bytes"].mean())
    assert (row["high"] - row["low"]) / 2 == pytest.approx(
        4.302653 * chosen["peak_queue_bytes"].std() / np.sqrt(3), rel=1e-5
    )
    assert drawn.notes == ["Mean and 95 % Student-t interval, n = 3 seeds."]


def test_whiskers_of_a_count_end_at_0_and_the_axis_names_all_metrics() -> None:
    """1, 2 and 9: 4 ± 10.8 is drawn from 0 to 14.8, in the CSV file, too."""
    specs = [make_spec("PFC", seed) for seed in (1, 2, 3)]
    store = make_store(specs)
    for spec, count in zip(specs, (1, 2, 9), strict=True):
        store.summaries[spec.hash("")]["summary"] |= {"pauses_sent": count, "events": 5}
    data = ReportData(store, store.collect(specs, ""), {spec.hash(""): spec for spec in specs})
    entry = {"name": "b", "kind": "bars", "x": "variant", "y": ["pauses_sent", "events"]}
    with paper_style():
        drawn = MODELS["bars"].model_validate(entry).draw(data)
    (axes,) = drawn.canvas.axes
    assert axes.get_ylabel() == "Pauses sent, events"
    heights = np.concatenate([np.asarray(line.get_ydata()) for line in axes.lines])
    assert np.nanmin(heights) == 0
    assert np.nanmax(heights) == pytest.approx(14.828, abs=1e-3)
    row = drawn.data.iloc[0]
    assert (row["mean"], row["low"], row["high"]) == pytest.approx((4, 0, 14.828), abs=1e-3)
    (note,) = drawn.notes
    assert note.endswith(" without interval. Intervals end at 0: no value can be negative.")


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({**TIMESERIES, "where": {"variant": "CBFC"}}, "no finished run with CBFC"),
        ({**TIMESERIES, "columns": "response"}, "the runs have no parameter 'response'"),
        ({**TIMESERIES, "columns": None}, "holds 2 settings"),
        ({**TIMESERIES, "seed": 9}, "no finished run has seed 9"),
        (
            {**TIMESERIES, "rows": [{"table": "queue", "port": "s0:h7"}]},
            "no data of table 'queue' of port s0:h7",
        ),
        (
            {"name": "p", "kind": "pause_map", "where": {"variant": "GFC"}},
            "there is no pause",
        ),
        (
            {"name": "b", "kind": "bars", "x": "seed", "y": "queue_mean"},
            "a point would mix several values of variant",
        ),
        (
            {"name": "b", "kind": "bars", "x": "variant", "y": "absent"},
            "no run has a value of absent",
        ),
        ({"name": "c", "kind": "cdf", "hue": None}, "flows of several values of variant"),
    ],
)
def test_nothing_to_draw_is_an_error_not_an_empty_panel(
    entry: dict[str, Any], message: str
) -> None:
    """The message says what is missing."""
    with pytest.raises(FigureError, match=re.escape(message)):
        draw(entry, study())


@pytest.mark.drawing
def test_unfinished_flows_keep_the_curve_below_one() -> None:
    """3 of 4 flows finished: the curve ends at 0.75."""
    value, share = cumulative(np.array([2.0, 1.0, np.inf, 3.0]))
    assert value.tolist() == [1, 2, 3]
    assert share.tolist() == [0.25, 0.5, 0.75]
    notes = draw(FIGURES["cdf"], sweep(1)).notes
    assert "20 of 18,000 flows did not finish; they count as infinite." in notes


SLOWDOWN = {**FIGURES["slowdown"], "where": ONE_RESPONSE | {"load": 0.5}, "columns": None}


def test_slowdown_by_size_equals_a_count_by_hand() -> None:
    """Buckets are named by their sizes, and each holds the nearest-rank percentile of its flows."""
    specs = sweep(1)
    entry = SLOWDOWN | {"edges": ["10KB", "1MB"], "percentiles": [50, 99], "min_flows": 5}
    drawn = draw(entry, specs)
    assert list(dict.fromkeys(drawn.data["size"])) == ["< 10 KB", "10 KB–1 MB", "≥ 1 MB"]
    spec = next(s for s in specs if s.params == {"variant": "GFC", "load": 0.5, "response": "1us"})
    flows = make_store([spec]).tables[spec.hash("")]["flow"]
    small = flows[flows["size_bytes"] < 10_000]
    values = sorted((small["finish_ps"] - small["start_ps"]) / small["ideal_ps"])
    rows = drawn.data[(drawn.data["line"] == "GFC") & (drawn.data["size"] == "< 10 KB")]
    assert rows["flows"].tolist() == [len(values)] * 2
    wanted = [values[math.ceil(len(values) * share) - 1] for share in (0.5, 0.99)]
    assert rows["slowdown"].tolist() == pytest.approx(wanted)
    assert "median from 5, p99 from 5" in drawn.notes[0]


def mixed(variant: str) -> tuple[RunSpec, pd.DataFrame]:
    """40 messages of a background and 60 of an incast, all of 50 KB, and the table of flows.

    Slowdowns: 2 and 30 of PFC, 4 and 5 of GFC.
    """
    entries = {"background": ("h0", 40), "incast": ("h1", 60)}
    traffic = [
        {
            "kind": "messages",
            "label": label,
            "class": 3,
            "messages": [{"src": src, "dst": "h2", "size_bytes": 50_000}] * count,
        }
        for label, (src, count) in entries.items()
    ]
    data = make_spec(variant, 1).to_data() | {"traffic": traffic}
    slow = {"PFC": (2, 30), "GFC": (4, 5)}[variant]
    ideal = 10 * US
    table = pd.DataFrame(
        {
            "flow": range(100),
            "src": [NODES.index("h0")] * 40 + [NODES.index("h1")] * 60,
            "dst": NODES.index("h2"),
            "class": 3,
            "size_bytes": 50_000,
            "start_ps": 0,
            "finish_ps": [ideal * slow[0]] * 40 + [ideal * slow[1]] * 60,
            "ideal_ps": ideal,
            "delivered_bytes": 50_000,
        }
    )
    return run_of({**data, "params": {"variant": variant}}), table


def test_a_figure_of_flows_counts_the_traffic_that_it_names() -> None:
    """An incast among the sizes of the background would reverse the order of the schemes."""
    made = [mixed(variant) for variant in ("PFC", "GFC")]
    specs = [spec for spec, _ in made]
    store = make_store(specs)
    for spec, table in made:
        store.tables[spec.hash("")]["flow"] = table
    data = ReportData(store, store.collect(specs, ""), {spec.hash(""): spec for spec in specs})

    def drawn(kind: str, **keys: Any) -> Drawn:
        entry = {"name": "f", "kind": kind, "hue": "variant", **keys}
        with paper_style():
            return MODELS[kind].model_validate(entry).draw(data)

    def slowdown(**keys: Any) -> tuple[dict[str, float], str]:
        found = drawn("slowdown", percentiles=[90], min_flows=1, edges=["10KB"], **keys)
        rows = found.data[found.data["flows"] > 0]
        return dict(zip(rows["line"], rows["slowdown"], strict=True)), found.notes[0]

    both = "All flows are counted: those of background and incast."
    assert slowdown() == ({"PFC": 30, "GFC": 5}, both)
    assert slowdown(traffic=["background"]) == (
        {"PFC": 2, "GFC": 4},
        "Only flows of background are counted.",
    )
    assert slowdown(src=["h1"], **{"class": 3, "max_size": "1MB"}) == (
        {"PFC": 30, "GFC": 5},
        "Only flows of class 3, from h1, below 1 MB are counted.",
    )
    assert slowdown(dst=["h2"])[1] == (
        "Only flows to h2 are counted: those of background and incast."
    )
    assert set(drawn("cdf", traffic=["incast"]).data["value"]) == {5, 30}
    assert drawn("cdf").notes[0] == both
    with pytest.raises(FigureError, match="no finite flow of background starts"):
        drawn("cdf", traffic=["background"], src=["h1"])

    def split(**keys: Any) -> dict[tuple[str, str], set[float]]:
        found = drawn("cdf", **keys).data.groupby(["panel", "line"])["value"]
        return {ends: set(values) for ends, values in found}

    assert split(columns="traffic") == {
        ("traffic = background", "PFC"): {2},
        ("traffic = background", "GFC"): {4},
        ("traffic = incast", "PFC"): {30},
        ("traffic = incast", "GFC"): {5},
    }
    assert split(columns="variant", hue="src") == {
        ("PFC", "h0"): {2},
        ("PFC", "h1"): {30},
        ("GFC", "h0"): {4},
        ("GFC", "h1"): {5},
    }
    with pytest.raises(FigureError, match="not every panel would have every line"):
        drawn("cdf", columns="traffic", hue="src", where={"variant": "PFC"})


@pytest.mark.drawing
def test_a_slowdown_of_too_few_flows_says_which_and_how_many() -> None:
    """In the caption where some percentile is drawn, else as the figure's error."""
    for more, wanted in (
        ({}, r"for p99 in every bucket \(\d+ at most\)\."),
        ({"min_flows": 350}, r"for median in 10–30 KB \(\d+\), .*; p99 in 10–30 KB \(\d+\), .*"),
    ):
        drawn = draw(SLOWDOWN | more, sweep(1))
        (note,) = (note for note in drawn.notes if note.startswith("Too few flows"))
        assert re.fullmatch(f"Too few flows {wanted}", note)
    hint = r"too few flows for any percentile \(p99.99 from 100,000 flows in a bucket; the fullest"
    with pytest.raises(FigureError, match=hint):
        draw(SLOWDOWN | {"percentiles": [99.99]}, sweep(1))


def test_percentiles_of_a_slowdown_differ_in_their_markers() -> None:
    """The median, p95 and p99 of one line can be told apart at every point."""
    entry = SLOWDOWN | {"percentiles": [50, 95, 99], "min_flows": 1, "hue": "variant"}
    (axes,) = draw(entry, sweep(1)).canvas.axes
    fills = [(line.get_fillstyle(), line.get_markerfacecolor()) for line in axes.lines]
    assert len(set(fills[:3])) == 3


@pytest.mark.drawing
def test_cells_are_the_numbers_of_the_lines() -> None:
    """A panel per percentile, a row per scheme, a column per size; each cell has its number."""
    entry = SLOWDOWN | {"edges": ["10KB", "1MB"], "percentiles": [50, 99], "min_flows": 5}
    lines, cells = draw(entry, sweep(1)), draw(entry | {"cells": True}, sweep(1))
    assert cells.data.equals(lines.data)
    median, tail, _ = cells.canvas.axes
    assert (median.get_title(), tail.get_title()) == ("median", "p99")
    for axes, percentile in ((median, 50), (tail, 99)):
        part = lines.data[lines.data["percentile"] == percentile]
        rows = [label.get_text() for label in median.get_yticklabels()]
        wanted = [
            short_number(part[(part["line"] == row) & (part["size"] == size)]["slowdown"].item())
            for row in rows
            for size in ("< 10 KB", "10 KB–1 MB", "≥ 1 MB")
        ]
        assert [text.get_text() for text in axes.texts] == wanted
    with pytest.raises(ValidationError, match="leave 'columns' out"):
        draw(entry | {"cells": True, "columns": "load"}, sweep(1))


@pytest.mark.drawing
def test_a_distribution_by_size_has_the_flows_of_each_size() -> None:
    """Each panel's curves are those of a figure that takes only flows of its sizes."""
    entry = SLOWDOWN | {"kind": "cdf"}
    whole = draw(entry | {"edges": ["10KB", "1MB"]}, sweep(1)).data
    limits = {
        "< 10 KB": {"max_size": "10KB"},
        "10 KB–1 MB": {"min_size": "10KB", "max_size": "1MB"},
        "≥ 1 MB": {"min_size": "1MB"},
    }
    assert set(whole["panel"]) == limits.keys()
    for panel, sizes in limits.items():
        alone = draw(entry | sizes, sweep(1)).data.drop(columns="panel")
        part = whole[whole["panel"] == panel].drop(columns="panel")
        assert part.reset_index(drop=True).equals(alone.reset_index(drop=True))
    with pytest.raises(ValidationError, match="both make panels"):
        draw(entry | {"edges": ["10KB"], "columns": "load"}, sweep(1))


def test_thinning_keeps_extremes() -> None:
    """A single spike among 50,000 points survives."""
    times = np.arange(50_000, dtype=float)
    values = np.zeros(50_000)
    values[31_415], values[27_182] = 9, -9
    kept_times, kept = thin(times, values)
    assert len(kept) <= 3002
    assert (kept.max(), kept.min()) == (9, -9)
    assert kept_times[kept.argmax()] == 31_415


def mean_over_time(times: np.ndarray, values: np.ndarray) -> float:
    """Of a step line."""
    return float(np.dot(values[:-1], np.diff(times)) / (times[-1] - times[0]))


def test_thinning_keeps_the_time_mean_of_short_pauses() -> None:
    """20,000 pauses of 1 us, one every 100 us, are 1 % of the time in the picture, too."""
    starts = np.arange(20_000) * 100.0
    times = np.append(np.column_stack([starts, starts + 1]).ravel(), 2e6)
    values = np.append(np.tile([1.0, 0.0], 20_000), 0.0)
    kept_times, kept = thin(times, values)
    assert len(kept) <= 3000
    assert mean_over_time(kept_times, kept) == pytest.approx(0.01, rel=1e-9)


@pytest.mark.drawing
@given(
    st.lists(
        st.tuples(st.integers(0, 1000), st.integers(-50, 50)), min_size=40, max_size=400
    ).filter(lambda steps: sum(length for length, _ in steps) > 0),
    st.integers(30, 60),
)
def test_a_thinned_line_has_the_mean_and_the_extremes_of_the_whole(
    steps: list[tuple[int, int]], most: int
) -> None:
    """And its times go forward, from the first to the last."""
    times = np.cumsum([0, *(length for length, _ in steps)]).astype(float)
    values = np.array([*(level for _, level in steps), steps[-1][1]], dtype=float)
    kept_times, kept = thin(times, values, most)
    assert len(kept) <= max(most, 2) or len(times) <= most
    assert (np.diff(kept_times) >= 0).all()
    assert (kept_times[0], kept_times[-1]) == (times[0], times[-1])
    assert (kept.min(), kept.max()) == (values.min(), values.max())
    whole = mean_over_time(times, values)
    assert mean_over_time(kept_times, kept) == pytest.approx(whole, rel=1e-6, abs=1e-6)


def test_timeseries_row_refuses_a_wrong_unit() -> None:
    """A queue has no rate."""
    rows = [{"table": "queue", "port": "s0:h0", "unit": "Gbps"}]
    with pytest.raises(ValidationError, match="'unit' Gbps does not fit a series in B"):
        MODELS["timeseries"].model_validate({**TIMESERIES, "rows": rows})


EXPECTS = [
    {
        "what": "GFC: the queue settles",
        "metric": "queue_mean",
        "where": {"variant": "GFC"},
        "expected": "75KB",
        "tolerance": 0.02,
        "status": "verified",
        "source": "GFC paper, Figure 5(b), p. 79",
    },
    {
        "what": "PFC <settles>",
        "metric": "queue_mean",
        "where": {"variant": "PFC"},
        "expected": "60KB",
        "tolerance": 0.02,
        "status": "derived",
        "source": "fluid model",
    },
]


def experiment(figures: Sequence[Mapping[str, Any]], file: Path | None = None) -> Any:
    """An experiment as far as the report needs one."""
    return SimpleNamespace(
        name="gfc/fake",
        title="PFC against GFC",
        question="Which one holds the queue?",
        source="made up",
        metrics=tuple(map(parse, METRICS)),
        figures=figures,
        expects=EXPECTS,
        file=file,
        types=catalogue(SCHEMA),
    )


@pytest.mark.drawing
def test_report_is_complete_and_stable(tmp_path: Path) -> None:
    """Two reports of one store are equal byte for byte, with all files and verdicts."""
    specs = study()
    store = make_store(specs, "f1")
    pauses = {"name": "pauses", "width": "one", "where": {"variant": "PFC"}}
    figures = [TIMESERIES, FIGURES["pause_map"] | pauses]
    first, second = (
        write_report(
            experiment(figures), store, specs, tmp_path / name, fingerprint="f1", paper=True
        )
        for name in ("a", "b")
    )
    names = sorted(path.name for path in first.files)
    stems = ("queue-and-rate", "pauses")
    drawn = [f"{stem}.{ending}" for stem in stems for ending in ("csv", "pdf", "png")]
    drawn += [
        f"{stem}.{ending}"
        for stem in ("queue-and-rate-one", "pauses-two")
        for ending in ("pdf", "png")
    ]
    tables = [f"expectations.{ending}" for ending in ("csv", "json", "tex")]
    assert names == sorted(["index.html", "setting.tex", *tables, *drawn])
    for left, right in zip(first.files, second.files, strict=True):
        assert left.read_bytes() == right.read_bytes(), left.name
    assert [result.expect.what for result in first.failed_expectations] == ["PFC <settles>"]
    assert first.figure_errors == ()
    verdicts = json.loads((tmp_path / "a" / "expectations.json").read_text())
    assert [row["verdict"] for row in verdicts] == ["agrees", "differs"]


@pytest.mark.drawing
def test_a_figure_is_drawn_again_only_when_something_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not for a repeat; for other runs, another entry, and files that were touched or lost."""
    specs = study()
    store = make_store(specs, "f1")
    drawn: list[str] = []
    save = writing.save

    def noted(canvas: Any, folder: Path, name: str, paper: bool) -> tuple[Path, ...]:
        drawn.append(name)
        return save(canvas, folder, name, paper)

    monkeypatch.setattr(writing, "save", noted)

    def report(
        entry: dict[str, Any] = TIMESERIES, some: Any = specs, paper: bool = False
    ) -> list[str]:
        drawn.clear()
        result = write_report(
            experiment([entry]), store, some, tmp_path, fingerprint="f1", paper=paper
        )
        pages.append(result.index.read_bytes())
        return sorted(drawn)

    pages: list[bytes] = []
    one, both = ["queue-and-rate"], ["queue-and-rate", "queue-and-rate-one"]
    assert report() == one
    assert report() == []
    assert pages[0] == pages[1]
    (tmp_path / "queue-and-rate.csv").write_text("edited")
    assert report() == one
    assert report(TIMESERIES | {"caption": "Another."}) == one
    assert report() == one
    assert report(some=specs[:-1]) == one
    (tmp_path / ".drawn" / "queue-and-rate.json").write_text('{"key": 1}')
    assert report(some=specs[:-1]) == one
    assert report(some=specs[:-1], paper=True) == both
    assert report(some=specs[:-1], paper=True) == []
    (tmp_path / "queue-and-rate-one.pdf").unlink()
    assert report(some=specs[:-1], paper=True) == both
    assert report(some=specs[:-1]) == one
    assert not [*tmp_path.glob("*.pdf"), *tmp_path.glob("*-one.png")]


@pytest.mark.drawing
def test_page_is_self_contained(tmp_path: Path) -> None:
    """No address of the network, pictures inline, text escaped, light and dark."""
    specs = study()
    result = write_report(experiment([TIMESERIES]), make_store(specs), specs, tmp_path)
    page = result.index.read_text(encoding="utf-8")
    bare = re.sub(r"[A-Za-z0-9+/=]{200,}", "", page)
    assert len(bare) < 60_000
    assert not re.search(r"https?://|//cdn|@import|<script[^>]*src|<link", bare)
    assert page.count("data:image/png;base64,") == 1
    assert "PFC &lt;settles&gt;" in page
    assert "prefers-color-scheme: dark" in page
    assert 'href="queue-and-rate.png"' in page
    assert ".pdf" not in page
    assert "invoke experiment gfc/fake\ninvoke report gfc/fake --paper" in page
    assert "here (x86_64) (2 runs)" in page
    assert "Bm - B0 is below 4*C*tau" in page


def test_a_number_that_no_run_has_is_on_the_page(tmp_path: Path) -> None:
    """The page warns of a metric whose column is empty because its number is misspelt."""
    one = experiment([])
    one.metrics += (parse({"name": "sent", "kind": "summary", "number": "pauses_send"}),)
    specs = study()
    page = write_report(one, make_store(specs), specs, tmp_path).index.read_text(encoding="utf-8")
    assert "no finished run has a number &#39;pauses_send&#39;; did you mean" in page


def test_the_setting_has_a_unit_wherever_there_is_one(tmp_path: Path) -> None:
    """Times, sizes and rates, of the file and of C++ attributes; a bit mask is a bare number."""
    specs = study()
    result = write_report(experiment([]), make_store(specs), specs, tmp_path)
    _, _, page = result.index.read_text(encoding="utf-8").partition('id="setting"')
    shown = dict(re.findall(r'<tr><th scope="row">([^<]*)</th><td>([^<]*)</td></tr>', page))
    assert {key.removeprefix("attributes › "): value for key, value in shown.items()} == {
        "flow control": "pfc (PFC); gfc (GFC)",
        "run › duration": "2ms",
        "run › warmup": "0s",
        "run › drain": "0s",
        "run › allow loss": "no",
        "run › stop when done": "no",
        "run › deadlock test": "100us",
        "run › stop on deadlock": "no",
        "run › simulator": "eventloop::CellLoop",
        "topology › kind": "star",
        "topology › hosts": "3",
        "topology › rate": "10Gbps",
        "topology › delay": "1us",
        "port.control_delay": "22us",
        "port.overhead": "20B",
        "buffer.xoff": "80KB",
        "buffer.lossless_classes": "8",
        "never-seen-before.cap": "10Gbps",
        "traffic › kind": "greedy",
        "traffic › class": "3",
        "traffic › start": "0s",
        "traffic › window": "0B",
        "traffic › src": "h0, h1",
        "traffic › dst": "h2",
    }


def test_what_varies_is_shown_with_the_variants_that_have_it() -> None:
    """An attribute by its key in a file; what also varies within a variant is a mere list."""

    def spec(variant: str, seed: int, interval: str, hosts: int) -> RunSpec:
        data = make_spec(variant, seed).to_data()
        attributes = {"ns3::lossless::Port": {"ControlDelay": interval}} if interval else {}
        topology = data["topology"] | {"hosts": hosts}
        own = {"attributes": attributes, "topology": topology, "params": {"variant": variant}}
        return run_of({**data, **own})

    specs = [
        spec(variant, 1, interval, hosts)
        for variant, interval in (("PFC", ""), ("Fast", "1000000ps"), ("Slow", "55000000ps"))
        for hosts in (3, 4)
    ]
    shown = dict(setting(specs, experiment([]).types).varying)
    assert shown["port.control_delay"] == "1us (Fast); 55us (Slow)"
    assert shown["topology › hosts"] == "3, 4"


def test_a_zero_that_stands_for_more_says_for_what() -> None:
    """As the attribute's help has it: a headroom of 0 is what PFC demands, and loses nothing."""
    data = make_spec("PFC", 1).to_data()
    buffers = {"ns3::lossless::SharedBuffer": {"Headroom": "0", "LossyPool": "0"}}
    spec = run_of({**data, "attributes": buffers})
    shown = dict(setting([spec], experiment([]).types).common)
    assert shown["buffer.headroom"] == "0B: what its flow controls demand"
    assert shown["buffer.lossy_pool"] == "0B"


@pytest.mark.drawing
@pytest.mark.parametrize("name", sorted(FIGURES))
def test_fonts_are_embedded_as_truetype(name: str, tmp_path: Path) -> None:
    """Publishers refuse Type 3 fonts: every PDF has FontFile2 streams and no Type3 font."""
    specs = study() if name == "timeseries" else sweep(1)
    result = write_report(
        experiment([FIGURES[name]]), make_store(specs), specs, tmp_path, paper=True
    )
    documents = [path for path in result.files if path.suffix == ".pdf"]
    page = result.index.read_text(encoding="utf-8")
    assert all(f'href="{path.name}"' in page for path in documents)
    assert "invoke report" not in page
    assert documents[0].name == f"{FIGURES[name]['name']}.pdf"
    for document in documents:
        content = document.read_bytes()
        for stream in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", content, re.DOTALL):
            with contextlib.suppress(zlib.error):
                content += zlib.decompress(stream)
        assert b"/FontFile2" in content
        assert b"/Type3" not in content
        assert b"CreationDate" not in content


@pytest.mark.drawing
@pytest.mark.parametrize(
    ("bound", "metrics", "shown"),
    [
        ("100KB", ["queue_mean"], True),
        ("1KB", ["queue_mean"], False),  # refuted
        ("100KB", ["queue_mean", "events"], False),  # of the other nothing is expected
    ],
)
def test_a_finding_is_the_title_while_it_holds(
    bound: str, metrics: list[str], shown: bool, tmp_path: Path
) -> None:
    """The finding is in figure and caption only as long as the expectations agree."""
    finding = "The queue stays short"
    entry = {**TIMESERIES, "finding": {"text": finding, "metrics": metrics}}
    own = experiment([entry])
    own.expects = [{**EXPECTS[0], "where": {"variant": "GFC"}, "max": bound}]
    del own.expects[0]["expected"], own.expects[0]["tolerance"]
    drawn: list[str] = []
    model = MODELS["timeseries"]
    original = model.draw

    def draw_and_note(self: Any, data: ReportData) -> Drawn:
        found = original(self, data)
        drawn.append(found.canvas.get_suptitle())
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model, "draw", draw_and_note)
        page = write_report(own, make_store(study()), study(), tmp_path).index
    assert drawn == [finding if shown else entry["title"]]
    caption = page.read_text(encoding="utf-8").split("<figcaption>")[1]
    assert caption.startswith(
        f"Figure 1. {finding}. {entry['title']}." if shown else f"Figure 1. {entry['title']}."
    )


@pytest.mark.parametrize("count", [4, 13])
@pytest.mark.drawing
def test_names_of_many_bars_stay_apart_in_one_column(count: int) -> None:
    """A few are slanted; lines of many would touch, and stand upright."""
    names = [f"scheme number {number:2}" for number in range(count)]
    specs = [make_spec(name, 1) for name in names]
    entry = {**FIGURES["bars"], "x": "variant", "hue": None, "where": {}}
    drawn = draw(entry, specs)
    labels = drawn.canvas.axes[0].get_xticklabels()
    assert [label.get_text() for label in labels] == names
    assert {label.get_rotation() for label in labels} == {35 if count == 4 else 90}
    assert is_legible(drawn.canvas)


@pytest.mark.parametrize(("room", "legible"), [(0.4, True), (0.1, False)])
def test_slanted_names_may_be_wider_than_their_room(room: float, legible: bool) -> None:
    """Only lines that touch cannot be read: at 35 degrees those less than 0.2 inches apart."""
    with paper_style():
        canvas, panels = FIGURE_MODEL.canvas(height=2.0)
        axes = panels[0][0]
        axes.set_xlim(0, 6 / room)
        ticks = range(10)
        slant = {"rotation": 35, "ha": "right", "rotation_mode": "anchor"}
        axes.set_xticks(ticks, [f"a long name, {number}" for number in ticks], **slant)
        assert is_legible(canvas) == legible


@pytest.mark.drawing
def test_a_long_title_is_broken_into_lines() -> None:
    """In one column and in two no word of it leaves the figure."""
    for width in ("one", "two"):
        drawn = draw({**FIGURES["line"], "title": "many words " * 16, "width": width}, sweep(1))
        assert "\n" in drawn.canvas.get_suptitle()
        box = drawn.canvas.texts[0].get_window_extent(drawn.canvas.canvas.get_renderer())
        assert box.x0 >= 0
        assert box.x1 <= drawn.canvas.bbox.width


@pytest.mark.drawing
@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("lay", [lambda one: lay_out(one, 200), Figure.draw_without_rendering])
def test_a_long_label_of_an_axis_is_broken_into_lines(lay: Any, rows: int) -> None:
    """It ends within the figure, or its row of panels; a short one, and a broken one, stay.

    As a report lays figures out, which then draws them without a layout, and as a notebook does.
    """
    with paper_style():
        canvas, panels = FIGURE_MODEL.canvas(rows, 1)
        panels[0][0].set_ylabel("many words of a label " * 4)
        panels[-1][0].set_xlabel("x")
        lay(canvas)
        label = panels[0][0].yaxis.label
        box = label.get_window_extent(canvas.canvas.get_renderer())
        assert box.x0 >= 0
        assert "\n" in label.get_text()
        assert 0 <= box.y0 < box.y1 <= canvas.bbox.height
        assert box.height <= canvas.bbox.height / rows
        other, ((axes,),) = FIGURE_MODEL.canvas(1, 1)
        axes.set_ylabel("Queue (KB)")
        lay(other)
        assert axes.get_ylabel() == "Queue (KB)"


def test_the_side_of_a_pause_is_the_same_one_everywhere() -> None:
    """A figure without `side` shows what a metric without it measures."""
    models: list[Any] = [*MODELS.values(), *metrics.MODELS.values(), Row]
    fields = [model.model_fields["side"] for model in models if "side" in model.model_fields]
    assert len(fields) >= 4
    assert {field.default for field in fields} == {"pausing"}


@pytest.mark.parametrize(("width", "columns"), [("one", 2), ("two", 3)])
def test_a_legend_has_the_columns_that_fit(width: str, columns: int) -> None:
    """As many as are asked for, fewer where they would leave the figure."""
    with paper_style():
        model = MODELS["line"].model_validate({**FIGURES["line"], "width": width})
        canvas, panels = model.canvas()
        for number in range(3):
            panels[0][0].plot([number], label=f"a name of some length {number}")
        legend = canvas.legend(loc="outside lower center", ncols=3)
        assert canvas.legends == [legend]
        canvas.draw_without_rendering()
        boxes = [t.get_window_extent(canvas.canvas.get_renderer()) for t in legend.get_texts()]
        assert len({round(box.x0) for box in boxes}) == columns
        beside = canvas.legend(loc="outside right center")
        canvas.draw_without_rendering()
        box = beside.get_window_extent(canvas.canvas.get_renderer())
        assert (box.x0 > canvas.bbox.width / 2) == (width == "two")


@pytest.mark.drawing
def test_failed_and_missing_runs_are_shown(tmp_path: Path) -> None:
    """A failed run appears with the end of its log, a missing one by name."""
    specs = study()
    failed, missing = make_spec("PFC", 2), make_spec("GFC", 2)
    store = make_store(specs)
    log = tmp_path / "log.txt"
    log.write_text("\n".join(f"line {n}" for n in range(40)))
    store.logs[failed.hash("")] = log
    everything = [*specs, failed, missing]
    result = write_report(experiment([TIMESERIES]), store, everything, tmp_path / "report")
    page = result.index.read_text(encoding="utf-8")
    assert "2 of 4 runs done" in page
    assert "<strong>1 run failed.</strong>" in page
    assert "<strong>1 run is missing.</strong>" in page
    assert "line 39" in page
    assert "line 24\n" not in page


@pytest.mark.drawing
def test_a_figure_that_cannot_be_drawn_is_an_error_in_the_report(tmp_path: Path) -> None:
    """The rest of the report is written."""
    figures = [{**TIMESERIES, "name": "broken", "seed": 9}, TIMESERIES]
    specs = study()
    result = write_report(experiment(figures), make_store(specs), specs, tmp_path)
    assert result.figure_errors == ("broken: no finished run has seed 9",)
    assert "could not be drawn: no finished run has seed 9" in result.index.read_text()
    assert (tmp_path / "queue-and-rate.png").is_file()


def test_a_report_without_any_finished_run(tmp_path: Path) -> None:
    """It says so; nothing crashes."""
    specs = study()
    result = write_report(experiment([TIMESERIES]), FakeStore(), specs, tmp_path)
    assert "0 of 2 runs done" in result.index.read_text()
    assert [r.verdict for r in result.expectations] == ["not measured", "not measured"]


CUSTOM = """
import pandas as pd
from pyorch.report.figures import Drawn

def lengths(data, figure):
    canvas, axes = figure.canvas()
    axes[0][0].bar(["a"], [figure.options["height"]])
    return Drawn(canvas, pd.DataFrame({"n": [len(data.runs)]}))

def broken(data, figure):
    raise KeyError("oops")
"""


@pytest.mark.drawing
def test_a_study_can_bring_its_own_figure(tmp_path: Path) -> None:
    """A function in figures.py draws; its bug is an error in the report."""
    (tmp_path / "figures.py").write_text(CUSTOM)
    own = {"kind": "custom", "options": {"height": 2}}
    figures = [
        {"name": "own", "function": "lengths", **own},
        {"name": "bad", "function": "broken", **own},
        {"name": "none", "function": "nothing", **own},
    ]
    specs = study()
    out = tmp_path / "report"
    result = write_report(
        experiment(figures, tmp_path / "fake.toml"), make_store(specs), specs, out
    )
    assert (out / "own.csv").read_text() == "n\n2\n"
    assert result.figure_errors == (
        (
            "bad: figures.py:11: custom figure (broken): KeyError: 'oops'\n"
            '    figures.py:11, in broken: raise KeyError("oops")'
        ),
        "none: figures.py has no function 'nothing'",
    )
    for code, told in (
        ("SIZE = 1 / 0\n", "ZeroDivisionError: division by zero\n    figures.py:1, in <module>: "),
        ("def draw(\n", "SyntaxError: '(' was never closed\n    figures.py:1: def draw("),
    ):
        (tmp_path / "figures.py").write_text(code + "def lengths(): ...\n")
        one = experiment(figures[:1], tmp_path / "fake.toml")
        (error,) = write_report(one, make_store(specs), specs, out).figure_errors
        assert error.startswith(f"own: figures.py: {told}")


STUDY_FIGURES = sorted((Path(__file__).parents[2] / "experiments").glob("*/*figures.py"))


@pytest.mark.parametrize("file", STUDY_FIGURES, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_the_figures_of_every_study_can_be_imported(file: Path) -> None:
    """What they import from pyorch exists, even if no test draws them."""
    runpy.run_path(str(file))


def live_of(drawn: Drawn) -> Any:
    """The figure of the page."""
    assert drawn.live is not None
    return drawn.live()


@pytest.mark.drawing
def test_a_deadlock_is_shown_in_motion() -> None:
    """The live map has a frame a step of its slider, the last one the deadlock."""
    drawn = draw(FIGURES["deadlock_map"], sweep(1))
    live = live_of(drawn)
    assert live.to_json() == live_of(draw(FIGURES["deadlock_map"], sweep(1))).to_json()
    frames, (slider,) = live.frames, live.layout.sliders
    assert len(frames) == len(slider.steps) == 8
    assert slider.active == 7
    assert slider.steps[-1].label == "500.0 µs"
    assert frames[-1].layout.title.text == "500.0 µs: deadlock"
    by_name = {trace.name: trace for trace in frames[-1].data}
    cycle = {text for text in by_name["wait for each other"].text if text}
    assert cycle == {"s0 → h0", "h0 → s0"}
    assert not any(text for text in frames[0].data[1].text)
    told = drawn.data.set_index(["node", "peer"])["what"]
    assert told.loc[("s0", "h0")].tolist() == ["cycle", "chain 1"]
    assert told.loc[("h0", "s0")].tolist() == ["cycle", "chain 2"]
    texts = [text.get_text() for text in drawn.canvas.axes[0].texts]
    assert "500.0 µs: deadlock" in texts


def test_the_slider_of_a_map_stops_where_something_changes() -> None:
    """Every beginning and end of a pause while they are few, else equal distances."""
    pauses = pd.DataFrame({"start_ps": [10, 30, 90], "end_ps": [40, 60, 95]})
    assert moments(pauses, 20, 80, 9) == [20, 30, 40, 60, 80]
    assert moments(pauses, 20, 80, 4) == [20, 40, 60, 80]
    assert busiest(pauses, 0, 100) == 30
    assert busiest(pauses, 50, 100) == 50
    assert busiest(pauses, 70, 100) == 90


@pytest.mark.drawing
@pytest.mark.parametrize("name", sorted(FIGURES))
def test_what_is_live_on_the_page(name: str) -> None:
    """Figures over time and maps; every panel shows something, and no number is missing."""
    drawn = draw(FIGURES[name], study() if name == "timeseries" else sweep(1))
    assert (drawn.live is not None) == (name in LIVE)
    if drawn.live is not None:
        live = drawn.live()
        axes = {key.removeprefix("xaxis") for key in live.layout if key.startswith("xaxis")}
        assert {(trace.xaxis or "x").removeprefix("x") for trace in live.data} == axes
        assert json.dumps(json.loads(live.to_json()), allow_nan=False)


@pytest.mark.drawing
def test_a_logarithmic_row_begins_at_the_lowest_level_that_is_not_zero() -> None:
    """In print and on the page; texts of marks stand at their lines."""
    entry = copy.deepcopy(FIGURES["timeseries"])
    entry["rows"] = [{**entry["rows"][0], "log_y": True}]
    drawn = draw(entry, study())
    levels = drawn.data["value"]
    lowest = levels[levels > 0].min() / 1e3
    for axes in drawn.canvas.axes:
        assert axes.get_yscale() == "log"
        assert axes.get_ylim()[0] == pytest.approx(lowest)
    layout = live_of(drawn).layout
    assert layout.yaxis.type == "log"
    assert layout.yaxis.range[0] == pytest.approx(math.log10(lowest))
    lines = {shape.y0 for shape in layout.shapes}
    names = {note.text.split()[0]: note.y for note in layout.annotations if note.y != 1}
    assert {name: round(10**y, 6) for name, y in names.items()} == {"XOFF": 80, "XON": 77, "Bs": 75}
    assert lines == {75, 77, 80}


def test_a_row_of_pauses_has_no_logarithmic_axis() -> None:
    """It is paused or not: there is no level."""
    with pytest.raises(ValidationError, match="log_y"):
        Row.model_validate({"table": "pause", "port": "s0:h0", "log_y": True})


@pytest.mark.drawing
def test_the_live_line_is_the_printed_one() -> None:
    """Same levels, in the axis' unit, and peaks of a long series are kept."""
    drawn = draw(FIGURES["timeseries"], study())
    shown = drawn.data[(drawn.data["table"] == "queue") & (drawn.data["panel"] == "PFC")]
    (line,) = (trace for trace in live_of(drawn).data if trace.yaxis == "y")
    assert max(line.y) == pytest.approx(shown["value"].max() / 1e3, rel=1e-4)
    assert line.x[-1] == pytest.approx(shown["time_ps"].max() / 1e6, rel=1e-6)


@pytest.mark.drawing
def test_live_axes_hold_their_marks_and_rows_their_legend() -> None:
    """A mark above the data is inside; the first panel of a row of several ports names them."""
    row = {
        "table": "queue",
        "port": ["s0:h0", "s0:h1"],
        "class": 3,
        "unit": "MB",
        "marks": [{"value": "180KB", "label": "limit"}],
    }
    alone = {"table": "rate", "port": "s0:h0", "class": 3, "unit": "Gbps"}
    drawn = draw({**TIMESERIES, "rows": [alone, row]}, study())
    live = live_of(drawn)
    panels = len({trace.yaxis for trace in live.data}) // 2
    low, high = live.layout[f"yaxis{panels + 1}"].range
    assert low == 0
    assert 0.18 < high < 0.25
    named = [trace for trace in live.data if trace.showlegend]
    assert [trace.name for trace in named] == ["s0:h0", "s0:h1"]
    assert {trace.yaxis for trace in named} == {f"y{panels + 1}"}
    assert len({trace.legendgroup for trace in live.data}) == 3


@pytest.mark.parametrize(
    "form",
    [
        {"kind": "fat_tree", "k": 4},
        {"kind": "leaf_spine", "leaves": 4, "spines": 2, "hosts_per_leaf": 4},
        {"kind": "ring", "switches": 5, "hosts_per_switch": 1},
        {"kind": "line", "switches": 2, "hosts_per_switch": 2},
    ],
)
def test_nodes_of_a_map_lie_apart(form: dict[str, Any]) -> None:
    """No two nodes are drawn at the same place, and tiers are above each other."""
    network = network_of({"rate_bps": 10**10, "delay_ps": US, **form})
    places = layout(network)
    assert set(places) == set(range(len(network.names)))
    gaps = [math.dist(a, b) for a, b in combinations(places.values(), 2)]
    assert min(gaps) > 0.02
    tiers = {"edge": 0, "leaf": 0, "agg": 1, "spine": 1, "core": 2}
    heights: dict[int, set[float]] = {}
    for node, name in enumerate(network.names):
        tier = tiers.get(name.rstrip("0123456789"))
        if tier is not None:
            heights.setdefault(tier, set()).add(round(places[node][1], 6))
    assert all(len(own) == 1 for own in heights.values())
    order = [heights[tier].copy().pop() for tier in sorted(heights)]
    assert order == sorted(order)


def test_a_pause_tree_adds_up() -> None:
    """Every congestion point costs what its victims were paused; causes are above effects."""
    lines = grow(pause_tree_table())
    told = [(line.depth, line.egress, line.paused / US) for line in lines]
    assert told == [
        (0, (3, -1), 190),
        (1, (0, 3), 100),
        (2, (2, 0), 90),
        (0, (0, 1), 70),
        (1, (2, 0), 50),
        (1, (3, 0), 20),
    ]


def test_a_pause_tree_of_a_circle_names_everybody_once() -> None:
    """Three ports, each paused because of the next: a deadlock."""
    circle = pd.DataFrame(
        [(0, 10 + n, n, (n + 1) % 3, 3, (n + 2) % 3, 5, 0, 1) for n in range(3)],
        columns=pause_tree_table().columns,
    )
    lines = grow(circle)
    assert [line.egress for line in lines[1:]] == [(2, 0), (1, 2), (0, 1)]
    assert lines[0].paused == sum(line.paused for line in lines[1:])


@pytest.mark.drawing
def test_variants_of_several_settings_are_not_mixed() -> None:
    """What varies besides the variant has bars of its own, with the means of its runs alone."""
    entry = {"name": "v", "kind": "variants", "metrics": ["peak_queue_bytes"]}
    specs = sweep(2)
    found = draw(entry, specs).data.set_index("variant")["mean"]
    store = make_store(specs)
    own = store.collect(specs, "").groupby(["variant", "load", "response"])["peak_queue_bytes"]
    expected = {
        f"{variant}, load {load}, response {response}": value
        for (variant, load, response), value in own.mean().items()
    }
    assert len(expected) == 18
    assert dict(found) == pytest.approx(expected)


def test_more_bars_than_fit_are_refused_before_the_run() -> None:
    """With what to do about it."""
    figure = MODELS["variants"].model_validate({"name": "v", "kind": "variants", "metrics": ["m"]})
    specs = [make_spec("PFC", 1, load=number / 100) for number in range(61)]
    store = make_store(specs)
    data = ReportData(store, store.collect(specs, ""), {spec.hash(""): spec for spec in specs})
    with pytest.raises(FigureError, match="61 bars, of which 60 fit, as load varies, too: fix it"):
        figure.check_layout(data)


@pytest.mark.drawing
@pytest.mark.parametrize("column", [True, False])
def test_variants_show_one_bar_without_variants(column: bool) -> None:
    """A study that varies only the seed is drawn, too, and is no problem before it runs."""
    specs = [make_spec("PFC", seed) for seed in (1, 2, 3)]
    store = make_store(specs)
    runs = store.collect(specs, "")
    runs = runs.assign(variant="") if column else runs.drop(columns="variant")
    data = ReportData(store, runs, {spec.hash(""): spec for spec in specs})
    figure = MODELS["variants"].model_validate(FIGURES["variants"] | {"where": {}})
    assert check_entries("FILE", [], [figure], [], [], []) == []
    with paper_style():
        drawn = figure.draw(data)
    found = drawn.data.set_index("metric")
    assert list(found["variant"]) == ["", ""]
    assert found["mean"]["peak_queue_bytes"] == pytest.approx(runs["peak_queue_bytes"].mean())


@pytest.mark.drawing
@pytest.mark.parametrize(
    ("values", "kind"),
    [((1, 2, 50, 51), "log"), ((1, 2, 3, 4), "linear"), ((0, 0, 5, 6), "linear")],
)
def test_variants_have_a_logarithmic_axis_where_values_span_a_decade(
    values: Sequence[float], kind: str
) -> None:
    """Not where one is 0; intervals may reach it."""
    specs = [make_spec(name, seed) for name in ("PFC", "GFC") for seed in (1, 2)]
    store = make_store(specs)
    runs = store.collect(specs, "").assign(peak_queue_bytes=[1000.0 * one for one in values])
    data = ReportData(store, runs, {spec.hash(""): spec for spec in specs})
    entry = {"name": "v", "kind": "variants", "metrics": ["peak_queue_bytes"], "log_x": True}
    with paper_style():
        (axes,) = MODELS["variants"].model_validate(entry).draw(data).canvas.axes
    assert axes.get_xscale() == kind
    assert axes.get_xlim()[1] > max(values)


@pytest.mark.drawing
def test_variants_show_means_over_seeds() -> None:
    """A bar is the mean over seeds of its variant; the numbers are those of the runs."""
    entry = FIGURES["variants"]
    specs = sweep(3)
    drawn = draw(entry, specs)
    found = drawn.data.set_index(["variant", "metric"])
    assert (found["n"] == 3).all()
    store = make_store(specs)
    runs = store.collect(specs, "")
    for variant in ("PFC", "GFC"):
        own = runs[(runs.variant == variant) & (runs.load == 0.5) & (runs.response == "1us")]
        expected = own["peak_queue_bytes"].mean()
        assert found.loc[(variant, "peak_queue_bytes"), "mean"] == pytest.approx(expected)
