"""The figure link_load: what links carry, against closed forms and against a count by hand."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from pyorch.metrics.base import RunTables
from pyorch.metrics.loads import LoadError, loads_of_flows, loads_of_ports
from pyorch.report.figures import MODELS, FigureError
from pyorch.report.figures.loadmap import Shades, cells_of, shades_of
from pyorch.report.style import is_legible, paper_style
from tests.cli.test_end_to_end import run
from tests.forms import network_of, setting_of
from tests.jobs.test_collectives import PACKET, US
from tests.report.test_report import FIGURES, draw, sweep

GBPS = 10**9
STAR = {"kind": "star", "hosts": 3, "rate_bps": 10 * GBPS, "delay_ps": US}
H0, H1, H2, SWITCH = range(4)


def tables(**columns: Any) -> RunTables:
    """A run on a star of three hosts. columns: rows of tables by name."""
    names = {
        "flow_link": ["first_ps", "last_ps", "node", "peer", "class", "flow", "bytes"],
        "rate": ["time_ps", "node", "peer", "class", "rx_bytes", "tx_bytes"],
        "pause": ["start_ps", "end_ps", "node", "peer", "class", "side"],
        "pause_tree": ["start_ps", "end_ps", "node", "peer", "class"],
    }
    traces = [
        {"table": name, "ports": [], "classes": [], "period_ps": US if name == "rate" else 0}
        for name in columns
    ]
    traffic = [{"kind": "greedy", "src": ["h0", "h1"], "dst": ["h2"]}]
    setting = setting_of({"topology": STAR, "traffic": traffic, "traces": traces})
    found = {name: pd.DataFrame(rows, columns=names[name]) for name, rows in columns.items()}
    return RunTables(setting, 1, ["h0", "h1", "h2", "s0"], {"end_ps": 1e9}, found)


def by_egress(loads: Any, values: Any) -> dict[tuple[int, int], float]:
    """Values by node and peer."""
    return dict(
        zip(zip(loads.node.tolist(), loads.peer.tolist(), strict=True), values, strict=True)
    )


FLOWS = [
    (10 * US, 90 * US, H0, SWITCH, 3, 0, 50_000),
    (20 * US, 110 * US, SWITCH, H2, 3, 0, 50_000),
    (30 * US, 60 * US, H1, SWITCH, 4, 1, 25_000),
    (40 * US, 70 * US, SWITCH, H2, 4, 1, 25_000),
]


def test_a_link_carries_the_sum_of_its_flows() -> None:
    """Over the time from the first frame to the last: 75 KB of 125 KB in 100 us."""
    loads = loads_of_flows(tables(flow_link=FLOWS), None, None, None)
    assert (loads.begin, loads.end) == (10 * US, 110 * US)
    found = by_egress(loads, loads.load)
    assert found[SWITCH, H2] == pytest.approx(0.6)
    assert found[H0, SWITCH] == pytest.approx(0.4)
    assert found[H1, SWITCH] == pytest.approx(0.2)
    assert found[H2, SWITCH] == found[SWITCH, H0] == 0
    assert len(found) == 6
    assert loads.paused is None
    one = loads_of_flows(tables(flow_link=FLOWS), None, None, 4)
    assert by_egress(one, one.load)[SWITCH, H2] == pytest.approx(25_000 * 8 / (10e9 * 40e-6))


def test_flows_that_are_on_no_link_load_none() -> None:
    """As those of a scale-up domain: nothing, in all of the run."""
    loads = loads_of_flows(tables(flow_link=[]), None, None, None)
    assert (loads.begin, loads.end) == (0, 10**9)
    assert not loads.load.any()


def test_intervals_count_with_their_share_of_a_window() -> None:
    """10 KB in 0 to 10 us and 5 KB in 10 to 20: from 5 to 20 us it is 10 KB of 18.75."""
    rows = [
        (10 * US, H0, SWITCH, 3, 0, 10_000),
        (20 * US, H0, SWITCH, 3, 0, 4_000),
        (20 * US, H0, SWITCH, 0, 0, 1_000),
    ]
    loads = loads_of_ports(tables(rate=rows), 5 * US, None, None)
    assert (loads.begin, loads.end) == (5 * US, 20 * US)
    assert by_egress(loads, loads.carried)[H0, SWITCH] == 10_000
    assert by_egress(loads, loads.load)[H0, SWITCH] == pytest.approx(10 / 18.75)
    loads = loads_of_ports(tables(rate=rows), 0, 15 * US, 3)
    assert by_egress(loads, loads.carried)[H0, SWITCH] == 12_000
    with pytest.raises(LoadError, match="nothing was counted in the window"):
        loads_of_ports(tables(rate=rows), 30 * US, None, None)


def test_paused_time_counts_once_and_inside_the_window() -> None:
    """Overlapping pauses of two classes, one that begins before the window, one without an end."""
    holds = [
        (0, 30 * US, H0, SWITCH, 3),  # 20 us of it are in the window
        (20 * US, 50 * US, H0, SWITCH, 4),
        (25 * US, 28 * US, H0, SWITCH, 3),
        (100 * US, -1, H0, SWITCH, 3),
        (15 * US, 20 * US, SWITCH, H2, 3),
    ]
    loads = loads_of_flows(tables(flow_link=FLOWS, pause_tree=holds), None, None, None)
    found = by_egress(loads, loads.paused)
    assert found[H0, SWITCH] == pytest.approx(0.5)
    assert found[SWITCH, H2] == pytest.approx(0.05)
    assert found[H1, SWITCH] == 0
    one = loads_of_flows(tables(flow_link=FLOWS, pause_tree=holds), None, None, 3)
    window = 100 * US  # flow 0
    assert by_egress(one, one.paused)[H0, SWITCH] == pytest.approx(30 * US / window)
    sides = [(15 * US, 20 * US, H0, SWITCH, 3, 1), (15 * US, 95 * US, SWITCH, H0, 3, 0)]
    loads = loads_of_flows(tables(flow_link=FLOWS, pause=sides), None, None, None)
    found = by_egress(loads, loads.paused)
    assert found[H0, SWITCH] == pytest.approx(0.05)
    assert found[SWITCH, H0] == 0


def test_random_pauses_cover_what_a_sweep_over_all_moments_says() -> None:
    """Brute force, a moment at a time."""
    random = np.random.default_rng(5)
    starts = random.integers(0, 120, 40)
    ends = starts + random.integers(1, 12, 40)
    holds = [(s * US, e * US, H0, SWITCH, 3) for s, e in zip(starts, ends, strict=True)]
    loads = loads_of_flows(tables(flow_link=FLOWS, pause_tree=holds), None, None, None)
    held = [((starts <= t) & (ends > t)).any() for t in range(10, 110)]
    assert by_egress(loads, loads.paused)[H0, SWITCH] == pytest.approx(sum(held) / 100)


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"from": "1us"}, "'from' and 'until' need table = 'rate'"),
        ({"table": "rate", "traffic": "job"}, "'rate' does not distinguish flows"),
        ({"collective": "x"}, "'collective' needs 'traffic'"),
        ({"table": "rate", "from": "2us", "until": "1us"}, "'from' must be before 'until'"),
        ({"table": "queue"}, "'flow_link' or 'rate'"),
    ],
)
def test_keys_that_do_not_go_together_are_refused(keys: dict[str, Any], says: str) -> None:
    """With a sentence."""
    with pytest.raises(ValidationError, match=says):
        MODELS["link_load"].model_validate({"name": "x", "kind": "link_load", **keys})


def test_unknown_traffic_is_said() -> None:
    """By the labels that there are; also that an entry has no collectives."""
    entry = FIGURES["link_load"]
    with pytest.raises(FigureError, match="no traffic is called 'job'; there is: greedy-0"):
        draw({**entry, "traffic": "job"}, sweep(1))
    with pytest.raises(FigureError, match="of kind greedy and has no collectives"):
        draw({**entry, "traffic": "greedy-0", "collective": "x"}, sweep(1))


def test_a_trace_of_some_ports_is_not_the_whole_network() -> None:
    """What is not measured must not look idle."""
    some = tables(flow_link=FLOWS)
    data = [{"table": "flow_link", "ports": [["h0", "s0"]], "classes": [], "period_ps": 0}]
    setting = setting_of({"topology": STAR, "traces": data})
    other = RunTables(setting, 1, some.nodes, some.summary, some.tables)
    with pytest.raises(LoadError, match="traced at some ports only"):
        loads_of_flows(other, None, None, None)


def test_the_scale_ends_where_the_largest_has_room() -> None:
    """Its steps are closed above: what is at a border has the colour below it."""
    assert shades_of([0.0, 0.43]).top == 0.5
    assert shades_of([0.5]).top == 0.5
    assert shades_of([0.501]).top == 1.0
    assert shades_of([]).top == 0.01
    shades = Shades(0.5)
    assert [shades.step(share) for share in (1e-6, 0.05, 0.0501, 0.5, 0.7)] == [0, 0, 1, 9, 9]


def lightness(colour: str) -> float:
    """Of a colour as grey print has it, 0 to 1."""
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_colours_also_differ_in_grey() -> None:
    """Each step is darker than the one before."""
    greys = [lightness(colour) for colour in Shades(1.0).colours]
    assert all(a - b > 0.03 for a, b in pairwise(greys))


NETWORKS = {
    "star": STAR,
    "wide star": STAR | {"hosts": 300},
    "fat-tree": {"kind": "fat_tree", "k": 8, "rate_bps": GBPS, "delay_ps": US},
    "ring": {
        "kind": "ring",
        "switches": 6,
        "hosts_per_switch": 1,
        "rate_bps": GBPS,
        "delay_ps": US,
    },
}


@pytest.mark.parametrize("name", NETWORKS)
def test_every_egress_has_one_cell(name: str) -> None:
    """None is left out, none is there twice."""
    network = network_of(NETWORKS[name])
    cells = [e for one in cells_of(network) for row in one.rows for e in row if e is not None]
    links = zip(network.a.tolist(), network.b.tolist(), strict=True)
    assert sorted(cells) == sorted(end for a, b in links for end in ((a, b), (b, a)))


def test_a_column_of_cells_is_a_switch() -> None:
    """A fat-tree of k = 8: 32 edges of 4 hosts, then as many uplinks to 4 of aggregation."""
    hosts, edges, *_ = cells_of(network_of(NETWORKS["fat-tree"]))
    for one in (hosts, edges):
        assert [len(row) for row in one.rows] == [32] * 4
    assert hosts.what == "h0 – h127 → edge0 – edge31"
    for column in range(32):
        assert len({row[column][1] for row in hosts.rows if row[column]}) == 1
        assert len({row[column][0] for row in edges.rows if row[column]}) == 1


# ---------------------------------------------------------------------------------------------
# With the real simulator

HEAD = """
title = "what links carry"
flow_control = ["pfc"]
[run]
duration = "1ms"
drain = "20ms"
stop_when_done = true
[buffer]
size = "64MB"
threshold = "dynamic"
alpha = 8
[queue_pair]
ack_every = 1000000
reorder_window = 4096
"""
TAIL = """
[[trace]]
table = "flow_link"
[[trace]]
table = "pause"
[[figure]]
name = "load"
kind = "link_load"
[[figure]]
name = "last"
kind = "link_load"
traffic = "job"
collective = "last"
[[figure]]
name = "window"
kind = "link_load"
table = "rate"
[[trace]]
table = "rate"
period = "1us"
"""
RING = (
    HEAD
    + """
[port]
pause_response = "ideal"
[topology]
kind = "star"
hosts = 4
rate = "100Gbps"
delay = "1us"
[[traffic]]
kind = "collective"
connection = "message"
label = "job"
collectives = [
  { name = "ring", operation = "all_reduce", algorithm = "ring", size = "1200KB" },
  { name = "last", operation = "broadcast", algorithm = "chain", size = "100KB", hosts = ["h1", "h2"], after = ["ring"], delay = "5us" },
]
"""  # noqa: E501
    + TAIL
)
SPRAY = (
    HEAD.replace('["pfc"]', '["pfc"]\nforwarding = "spray"\nspray = { order = "round_robin" }')
    + """
[port]
pause_response = "ideal"
[topology]
kind = "leaf_spine"
leaves = 2
spines = 2
hosts_per_leaf = 2
rate = "100Gbps"
delay = "1us"
[[traffic]]
kind = "collective"
connection = "message"
label = "job"
collectives = [{ name = "last", operation = "all_to_all", size = "400KB" }]
"""
    + TAIL
)
WIRE = 1068
"""Bytes of a packet with 1,000 B of payload."""


def drawn(results: Path, figure: str) -> pd.DataFrame:
    """The data behind a figure, by node and peer."""
    (file,) = results.rglob(f"{figure}.csv")
    return pd.read_csv(file).set_index(["node", "peer"])


@pytest.mark.cpp
def test_a_ring_loads_every_link_of_a_star_alike(tmp_path: Path) -> None:
    """2 (n-1)/n of the size, in a time that has a closed form; nothing else is on the links."""
    done, results = run(tmp_path, RING)
    assert done.returncode == 0, done.stderr
    both, last, window = (drawn(results, name) for name in ("load", "last", "window"))
    ring = 2 * 3 * 300 * WIRE
    extra = 100 * WIRE  # h1 to h2
    on_the_way = {("h1", "star"), ("star", "h2")}
    names = {name for ends in both.index for name in ends}
    (switch,) = names - {f"h{n}" for n in range(4)}
    on_the_way = {("h1", switch), (switch, "h2")}
    for place, row in both.iterrows():
        assert row["bytes"] == ring + extra * (place in on_the_way)
    assert len(both) == 8
    assert both["paused"].eq(0).all()
    # of the last collective alone: N packets, one more for the second link, and a delay between
    time = (100 + 1) * PACKET + US
    for place, row in last.iterrows():
        expected = 100 * PACKET / time if place in on_the_way else 0
        assert row["load"] == pytest.approx(expected, rel=1e-6)
    # samples count ACKs, one of 84 B a message and hop the other way; the last is after the samples
    for place, row in window.iterrows():
        assert 0 <= row["bytes"] - both.loc[place, "bytes"] <= 7 * 84


@pytest.mark.cpp
def test_bytes_on_all_links_are_those_of_flows_times_their_hops(tmp_path: Path) -> None:
    """An all-to-all over a leaf-spine: 2 hops in a leaf, 4 across; spraying divides it evenly."""
    done, results = run(tmp_path, SPRAY)
    assert done.returncode == 0, done.stderr
    load = drawn(results, "load")
    block = 100 * WIRE
    within, across = 4 * 1, 4 * 2  # ordered pairs
    assert load["bytes"].sum() == block * (2 * within + 4 * across)
    for leaf in ("leaf0", "leaf1"):
        for spine in ("spine0", "spine1"):
            assert load.loc[(leaf, spine), "bytes"] == pytest.approx(2 * block, rel=0.02)
            assert load.loc[(spine, leaf), "bytes"] == pytest.approx(2 * block, rel=0.02)
    (file,) = results.rglob("flow.parquet")
    flows = pd.read_parquet(file)
    span = load["end_ps"].iloc[0] - load["begin_ps"].iloc[0]
    assert span == flows["finish_ps"].max() - flows["start_ps"].min() - US
    assert np.allclose(load["load"], load["bytes"] * 8e12 / (100e9 * span))


# ---------------------------------------------------------------------------------------------
# How it looks


def shown(topology: dict[str, Any], variants: int, **keys: Any) -> Any:
    """Draw a network whose links carry random shares. variants: panels."""
    from types import SimpleNamespace

    network = network_of(topology)
    random = np.random.default_rng(2)

    def runs() -> Iterator[tuple[str, RunTables]]:
        setting = setting_of(
            {
                "topology": topology,
                "traces": [{"table": "flow_link", "ports": [], "classes": [], "period_ps": 0}],
            }
        )
        ends = np.concatenate([network.a, network.b]), np.concatenate([network.b, network.a])
        for number in range(variants):
            carried = (random.beta(2, 3 + number, len(ends[0])) * 1e-3 * GBPS / 8).astype(int)
            table = pd.DataFrame(
                {
                    "first_ps": 0,
                    "last_ps": 1000 * US,
                    "node": ends[0],
                    "peer": ends[1],
                    "class": 3,
                    "flow": 0,
                    "bytes": carried,
                }
            )
            name = f"Variant{number}"
            yield name, RunTables(setting, 1, network.names, {}, {"flow_link": table})

    tables = dict(runs())
    rows = pd.DataFrame([{"hash": name, "seed": 1, "variant": name, "hosts": 1} for name in tables])
    data = SimpleNamespace(runs=rows, settings=["variant"], run=tables.__getitem__)
    columns = {"columns": "variant"} if variants > 1 else {}
    entry = {"name": "x", "kind": "link_load", **columns, **keys}
    with paper_style():
        drawn = MODELS["link_load"].model_validate(entry).draw(data)  # type: ignore[arg-type]
        legible = is_legible(drawn.canvas)
    return drawn, legible


LOOKS = {
    "16 hosts": ({"kind": "leaf_spine", "leaves": 4, "spines": 4, "hosts_per_leaf": 4}, 1),
    "16 hosts, four": ({"kind": "leaf_spine", "leaves": 4, "spines": 4, "hosts_per_leaf": 4}, 4),
    "54 hosts": ({"kind": "fat_tree", "k": 6}, 2),
    "128 hosts": ({"kind": "fat_tree", "k": 8}, 2),
    "1,024 hosts": ({"kind": "fat_tree", "k": 16}, 1),
    "1,024 hosts, two": ({"kind": "fat_tree", "k": 16}, 2),
    "ring": ({"kind": "ring", "switches": 6, "hosts_per_switch": 1}, 1),
    "star": ({"kind": "star", "hosts": 300}, 1),
}


@pytest.mark.drawing
@pytest.mark.parametrize("width", ["one", "two"])
@pytest.mark.parametrize("name", LOOKS)
def test_it_is_legible_from_16_to_1024_hosts(name: str, width: str) -> None:
    """No text covers another or leaves the figure, in either form."""
    table, variants = LOOKS[name]
    rates = {"rate_bps": GBPS, "delay_ps": US}
    drawn, legible = shown({**table, **rates}, variants, width=width)
    assert legible
    network = network_of({**table, **rates})
    assert len(drawn.data) == 2 * len(network.a) * variants
